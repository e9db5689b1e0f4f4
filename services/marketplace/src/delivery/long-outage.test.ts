import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { delivered } from "./attempt-result.test-support.ts";
import type { AttemptResult } from "./attempt-result.ts";
import { claimDeliveries } from "./claim-store.ts";
import { recoverRecipient } from "./recover-recipient.ts";
import { settleFailed } from "./settle.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const failed: AttemptResult = { ...delivered, outcome: "failed", statusCode: 503, error: "answered 503" };

describe("a recipient that doesn't recover", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: ServiceConnection<DB>;
  /** The test's clock; it only advances explicitly. */
  let now = new Date();
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
  });
  const rows = async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const pass = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const withClock = (): ServiceConnection<DB> & { random: () => number } => ({
    ...connected,
    clock: () => now,
    random: () => 0.5,
  });

  const makeEhr = async (): Promise<string> => {
    const [practice] = await registerPractices(ownerUrl, {
      count: 1,
      callbackUrl: "http://127.0.0.1:9",
      prefix: uuid(),
    });
    return practice?.id ?? assert.fail();
  };
  const makeEndpoint = async (): Promise<string> => {
    const id = uuid();
    await rows(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       select $1, id, 'http://127.0.0.1:9', '{ping}', '1.unread', now(), now() from vendors limit 1`,
      [id],
    );
    return id;
  };
  const makeDue = async (recipient: string, status: string, failures = 0): Promise<string> => {
    const [due] = await rows<{ id: string }>(
      `with happened as (
         insert into events (id, event, occurred_at, payload) values (mint_uuid(), 'ping', now(), '{}') returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, failures, created_at)
       select mint_uuid(), id, $1, $2, $3, now() from happened returning id`,
      [recipient, status, failures],
    );
    return due?.id ?? assert.fail();
  };
  /** Creates a due delivery and a due recovery job. */
  const hold = async (recipient: string, failures = 0): Promise<string> => {
    await rows(
      "update recipients set status = 'held', held_since = $2, consecutive_failures = 5, probes = 0 where id = $1",
      [recipient, now],
    );
    await connected.queue.boss().insert(recoveries, [{ id: recipient, data: {} }]);
    return makeDue(recipient, "waiting", failures);
  };
  /** Advances the clock to the next recovery step and runs it. */
  const recover = async (recipient: string): Promise<void> => {
    const boss = connected.queue.boss();
    await rows("update pgboss.job set start_after = now() where name = $1 and id = $2", [recoveries, recipient]);
    const [job] = await boss.fetch(recoveries, { includeMetadata: true });
    assert.equal(job?.id, recipient);
    await recoverRecipient(withClock(), job);
  };
  const fail = async (probe: boolean): Promise<void> => {
    const [job] = await connected.queue.boss().fetch<{ probe?: boolean }>(deliveries, {
      includeMetadata: true,
    });
    assert.ok(job !== undefined);
    assert.equal(job.data.probe ?? false, probe);
    const [delivery] = await claimDeliveries(connected.database, {
      ids: [job.id],
      probes: [job.id],
      workerId: null,
      now: new Date(),
    });
    assert.ok(delivery !== undefined);
    await settleFailed(withClock(), { delivery, result: failed, isProbe: probe, job });
  };
  const failProbe = (): Promise<void> => fail(true);
  const minutesToProbe = async (recipient: string): Promise<number> => {
    const [next] = await rows<{ start_after: Date }>("select start_after from pgboss.job where name = $1 and id = $2", [
      recoveries,
      recipient,
    ]);
    return ((next?.start_after.getTime() ?? 0) - now.getTime()) / minute;
  };
  const stateOf = async (recipient: string): Promise<object | undefined> => {
    const [found] = await rows("select status, disabled_reason from recipients where id = $1", [recipient]);
    return found;
  };
  const jobsOf = (delivery: string): Promise<object[]> =>
    rows("select data from pgboss.job where name = $1 and id = $2", [deliveries, delivery]);
  const statusOf = async (delivery: string): Promise<object | undefined> => {
    const [found] = await rows("select status, failures from deliveries where id = $1", [delivery]);
    return found;
  };

  test("is held after the fifth failure in a row, with a probe scheduled a minute later", async () => {
    const recipient = await makeEhr();
    await rows("update recipients set consecutive_failures = 4 where id = $1", [recipient]);
    const delivery = await makeDue(recipient, "queued");
    const boss = connected.queue.boss();
    await boss.insert(deliveries, [{ id: delivery, data: {} }]);
    await fail(false);
    assert.deepEqual(await stateOf(recipient), { status: "held", disabled_reason: null });
    assert.deepEqual(await statusOf(delivery), { status: "waiting", failures: 1 });
    assert.equal(await minutesToProbe(recipient), 1);
    await rows("delete from pgboss.job where id = $1", [recipient]);
  });

  test("is sent a redelivery again as a redelivery, so that new events stay ahead of it", async () => {
    const delivery = await makeDue(await makeEhr(), "queued");
    await rows("update deliveries set restarted_at = now() where id = $1", [delivery]);
    await connected.queue.boss().insert(deliveries, [{ id: delivery, data: { again: true } }]);
    await fail(false);
    assert.deepEqual(await jobsOf(delivery), [{ data: { again: true } }]);
    await rows("delete from pgboss.job where id = $1", [delivery]);
  });

  test("is probed at growing intervals, and probes don't count as failures of their delivery", async () => {
    const recipient = await makeEhr();
    const delivery = await hold(recipient, 11);
    const waits: number[] = [];
    for (let probe = 1; probe <= 6; probe += 1) {
      await recover(recipient);
      await failProbe();
      waits.push(await minutesToProbe(recipient));
      assert.deepEqual(await statusOf(delivery), { status: "waiting", failures: 11 }, `after probe ${probe}`);
    }
    assert.deepEqual(waits, [2, 4, 8, 15, 15, 15]);
    await rows("delete from pgboss.job where id = $1", [recipient]);
  });

  test("is disabled after five days when it is a vendor's endpoint, and its deliveries are kept", async () => {
    const endpoint = await makeEndpoint();
    const delivery = await hold(endpoint);
    pass(5 * day - minute);
    await recover(endpoint);
    assert.deepEqual(await stateOf(endpoint), { status: "held", disabled_reason: null }, "not before that");
    await failProbe();
    pass(2 * minute);
    await recover(endpoint);
    assert.deepEqual(await stateOf(endpoint), {
      status: "disabled",
      disabled_reason: "it has been failing for five days",
    });
    assert.deepEqual(await statusOf(delivery), { status: "waiting", failures: 0 });
    assert.deepEqual(await jobsOf(delivery), [], "nothing is sent to it");
    assert.deepEqual(await rows("select from pgboss.job where id = $1", [endpoint]), [], "nor is it looked after");
  });

  test("stays held and probed when it is an EHR", async () => {
    const ehr = await makeEhr();
    const delivery = await hold(ehr);
    pass(60 * day);
    await recover(ehr);
    assert.deepEqual(await stateOf(ehr), { status: "held", disabled_reason: null });
    assert.deepEqual(await jobsOf(delivery), [{ data: { probe: true } }]);
    await failProbe();
    assert.deepEqual(await stateOf(ehr), { status: "held", disabled_reason: null });
    await rows("delete from pgboss.job where id = $1", [ehr]);
  });
});
