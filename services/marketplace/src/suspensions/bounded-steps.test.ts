import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { insertSubscribers, registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { collectPlans, type ExecutedPlan, explainStatements } from "@ehr-marketplace/tests/support/executed-plans";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { maxQueuedPerRecipient } from "../delivery/retry-schedule.ts";
import { endSuspension, startSuspension } from "./manage-suspensions.ts";
import { batchSize, runSuspensionStep, sweepSuspensions } from "./run-suspension-step.ts";

const subscribers = 10_000;
const slug = "northwind-scribe";

describe(`a suspension of an app with ${subscribers} subscriptions`, () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let plans: { take(): ExecutedPlan[] };
  let command: Parameters<typeof endSuspension>[2];
  const endpointId = uuid();
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    ownerUrl = database.ownerUrl;
    await query("select adopt_apps()");
    const practices = await registerPractices(ownerUrl, { count: subscribers, callbackUrl: "http://127.0.0.1:9" });
    await insertSubscribers(ownerUrl, slug, practices);
    await query(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       select $1, vendor_id, 'http://127.0.0.1:9', '{subscription.paused}', '1.unread', now(), now() from apps where slug = $2`,
      endpointId,
      slug,
    );
    await query("analyze");
    await explainStatements(database);
    connected = await connectAsService<DB>(cleanUp, database.serviceUrl, { poolSize: 1 });
    plans = collectPlans(connected.pool);
    const [{ id: appId } = assert.fail()] = await query<{ id: string }>("select id from apps where slug = $1", slug);
    const by = { caller: { issuer: "https://id.example", subject: "operator" }, requestId: "a-request" };
    command = { appId, by, at: new Date() };
  });

  const step = async (): Promise<ExecutedPlan[]> => {
    await query("update pgboss.job set start_after = now() where name = 'suspensions' and state = 'created'");
    const [job = assert.fail("there is no job")] = await connected.queue.boss().fetch("suspensions");
    plans.take();
    await runSuspensionStep(connected, { id: job.id, retryCount: job.retryCount });
    return plans.take();
  };
  /** Few rows for each subscription of the batch, and the queued deliveries of the endpoint; nothing is read in proportion to the app's subscriptions. */
  const assertBounded = (executed: ExecutedPlan[], what: string): void => {
    assert.ok(executed.length > 5, "the plans are collected");
    for (const { statement, rowsRead, scans } of executed) {
      assert.ok(
        rowsRead <= 20 * batchSize + maxQueuedPerRecipient,
        `${what}: ${rowsRead} rows in ${scans}: ${statement.slice(0, 300)}`,
      );
    }
  };

  test("reads as many rows in each step as the batch needs, however many subscriptions there are", async () => {
    const { database, queue } = connected;
    await database
      .transaction()
      .execute((transaction) => startSuspension(transaction, queue, { ...command, reason: "Taken over" }));
    await step();
    for (let nth = 0; nth < 39; nth += 1) assertBounded(await step(), `pausing, step ${nth}`);
    plans.take();
    await sweepSuspensions(connected);
    await database.transaction().execute((transaction) => endSuspension(transaction, queue, command));
    for (let nth = 0; nth < 5; nth += 1) assertBounded(await step(), `resuming, step ${nth}`);
  });

  test("keeps the queue of the vendor's endpoint short", async () => {
    const [counted] = await query<{ queued: number; waiting: number }>(
      `select (count(*) filter (where status = 'queued'))::int as queued, (count(*) filter (where status = 'waiting'))::int as waiting
       from deliveries where recipient_id = $1`,
      endpointId,
    );
    assert.equal((counted?.queued ?? 0) + (counted?.waiting ?? 0), 40 * batchSize);
    assert.ok((counted?.queued ?? 0) < maxQueuedPerRecipient + batchSize, `${counted?.queued} are queued`);
  });
});
