import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { eventOf, readInstallationRows, send, storeApps } from "./events.test-support.ts";

const messagesOf = (responses: { message: string }[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { message } of responses) counts[message] = (counts[message] ?? 0) + 1;
  return counts;
};

test("applies the same delivery once when 20 concurrent requests send it to two processes", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  await storeApps(
    ownerUrl,
    Array.from({ length: 10 }, (_, nth) => `app-${nth}`),
  );
  const both = [await startEhr(cleanUp, serviceUrl), await startEhr(cleanUp, serviceUrl)];
  for (let round = 0; round < 10; round += 1) {
    const id = randomUUID();
    const delivery = {
      body: eventOf({ what: "created", id, at: Date.now() + round, app: `app-${round}` }),
      deliveryId: randomUUID(),
    };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => send(both[nth % 2]?.url ?? "", delivery)),
    );
    assert.deepEqual(messagesOf(responses), { applied: 1, "already applied": 19 });
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query("select from applied_deliveries where delivery_id = $1", [delivery.deliveryId]),
    );
    assert.equal(rows.length, 1);
  }
  const installed = await readInstallationRows(ownerUrl);
  assert.equal(installed.length, 10);
  for (const { installed_at, updated_at } of installed) assert.deepEqual(installed_at, updated_at);
});

test("keeps the newest state when all events of a subscription arrive concurrently", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  await storeApps(
    ownerUrl,
    Array.from({ length: 10 }, (_, nth) => `app-${nth}`),
  );
  const ehr = await startEhr(cleanUp, serviceUrl);
  const began = Date.now() - 60_000;
  for (let round = 0; round < 10; round += 1) {
    const [id, app] = [randomUUID(), `app-${round}`];
    const whats = ["created", "paused", "resumed", "paused", "resumed", "paused"] as const;
    const responses = await Promise.all(
      whats.map((what, nth) => send(ehr.url, { body: eventOf({ what, id, app, at: began + nth }) })),
    );
    for (const { status } of responses) assert.equal(status, 200);
    const found = (await readInstallationRows(ownerUrl)).find(({ app_slug }) => app_slug === app);
    assert.deepEqual([found?.status, found?.subscription_id], ["paused", id]);
  }
});
