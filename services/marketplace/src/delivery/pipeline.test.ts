import assert from "node:assert/strict";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createOutboundClient } from "@ehr-marketplace/outbound-http";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { recordPing } from "../events/record-event.ts";
import { type FetchedAttempt, recipientOf } from "./delivery-jobs.ts";
import { createDeliveryMetrics, readBacklog } from "./delivery-metrics.ts";
import { createPipeline } from "./pipeline.ts";
import { createSlots } from "./slots.ts";
import { insertWorker } from "./worker-store.ts";

test("a worker that is frozen while it sends a batch sends none of the rest when it resumes", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const connected = await connectAsService<DB>(cleanUp, serviceUrl);
  const { database, queue, pool } = connected;
  const receiver = await startReceiver(cleanUp);
  const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url });
  const vendor = await database.selectFrom("vendors").select("id").limit(1).executeTakeFirstOrThrow();
  const recipient = { id: practice?.id ?? assert.fail(), vendor_id: vendor.id };
  const record = () =>
    database.transaction().execute((transaction) => recordPing(transaction, queue, recipient, new Date()));
  for (let nth = 0; nth < 5; nth += 1) await record();
  const recorded = await database
    .selectFrom("deliveries")
    .select("id")
    .where("recipient_id", "=", recipient.id)
    .execute();
  const client = await pool.connect();
  cleanUp(async () => client.release(true));
  const id = await insertWorker(client, "here");

  const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const outboundClient = createOutboundClient();
  cleanUp(() => outboundClient.close());
  let signed = 0;
  const lost: FetchedAttempt[] = [];
  const pipeline = createPipeline({
    ...connected,
    // The worker is frozen while it signs the second delivery. When it resumes, it is no longer registered.
    workerId: () => (signed < 2 ? id : undefined),
    encryption: {
      ...encryption,
      decrypt(encrypted, owner) {
        signed += 1;
        return encryption.decrypt(encrypted, owner);
      },
    },
    random: Math.random,
    outboundClient,
    vendorNetworks: [],
    metrics: createDeliveryMetrics(new Registry(), () => readBacklog(database)),
    stopped: new AbortController().signal,
    onLost: (jobs) => lost.push(...jobs),
  });
  const slots = createSlots({ maxInFlight: 10, maxPerRecipient: 10, onFree: () => undefined });
  await pipeline.fetch({ limit: 100, ignoredRecipients: [] }, (jobs) =>
    jobs.map((job) => ({ job, slot: slots.take(recipientOf(job)) })),
  );
  await slots.whenIdle();
  const sent = receiver.received.map(({ headers }) => String(headers["x-marketplace-delivery-id"]));
  assert.equal(sent.length, 1);
  assert.deepEqual(
    [...sent, ...lost.map((job) => job.id)].toSorted(),
    recorded.map((delivery) => delivery.id).toSorted(),
    "all others are reported as lost, once",
  );
  assert.equal(slots.free(), 10);
});
