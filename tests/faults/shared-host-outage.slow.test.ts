import assert from "node:assert/strict";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, isFullRun, rounds, withClient } from "@ehr-marketplace/test-kit";
import { advanceTime } from "@ehr-marketplace/tests/support/advance-time";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { countArrivals } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";

const practiceCount = rounds(300, 20_000);
/** With all rounds the test waits for the probes; otherwise it advances the time. */
const minute = 60_000;
const maxReturnMs = 2 * minute;
const environment = { LOG_LEVEL: "error" };

test("thousands of practices behind one host wait while it is away, with one probe at a time, and all flow within two minutes of its return", {
  timeout: 30 * minute,
}, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const gone = await startReceiver(cleanUp);
  await gone.stop();
  const practices = await registerPractices(ownerUrl, { count: practiceCount, callbackUrl: gone.url });
  const wrongSecret = practices[0]?.alias;
  await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const load = await startChangeLoad(cleanUp, serviceUrl, practices, 200);
  await eventually("every practice has an event", isFullRun ? 10 * minute : minute, async () => {
    return load.succeededCount() >= practiceCount;
  });
  const recorded = await load.stop();

  const read = async <T extends object>(sql: string): Promise<T> => {
    const { rows } = await withClient(ownerUrl, (client) => client.query<T>(sql));
    return rows[0] ?? assert.fail(`no row: ${sql}`);
  };
  const readAttempts = (): Promise<{ attempts: number; held: number }> =>
    read(`select (select count(*)::int from delivery_attempts) as attempts,
      (select count(*)::int from recipients where status = 'held' and kind = 'ehr' and id in
        (select recipient_id from deliveries)) as held`);
  const countProbes = async (): Promise<number> => {
    const { probes } = await read<{ probes: number }>(
      "select coalesce((select probes from callback_origins where status = 'held'), 0) as probes",
    );
    return probes;
  };
  /** Lets a minute pass, in which one probe is sent. */
  const passMinute = async (): Promise<void> => {
    if (isFullRun) return;
    await advanceTime(ownerUrl, minute).catch((error: unknown) => {
      // A deadlock with the worker: the caller repeats it.
      if ((error as { code?: string }).code !== "40P01") throw error;
    });
  };

  await eventually("the host is held and nothing is in flight", minute, async () => {
    const { held, queued } = await read<{ held: number; queued: number }>(
      `select (select count(*)::int from callback_origins where status = 'held') as held,
        (select count(*)::int from deliveries where status = 'queued') as queued`,
    );
    return held === 1 && queued === 0;
  });
  const outage = await readAttempts();
  const probesBefore = await countProbes();
  for (let failed = probesBefore + 1; failed <= probesBefore + 3; failed += 1) {
    await passMinute();
    await eventually(`probe ${failed} has failed`, 1.5 * minute, async () => (await countProbes()) === failed);
  }
  const probed = await readAttempts();
  assert.equal(probed.attempts - outage.attempts, 3, "nothing but the probes was sent");

  const back = await startReceiver(cleanUp, gone.port);
  back.respond = ({ event }, response) => {
    response.writeHead(event.subscription.orgAlias === wrongSecret ? 401 : 204).end();
  };
  const returnedAt = performance.now();
  await passMinute();
  const isAccepted = ({ event }: (typeof back.received)[number]): boolean =>
    event.subscription.orgAlias !== wrongSecret;
  await eventually("all other practices have their events", maxReturnMs, async () => {
    const { due } = await read<{ due: number }>(
      `select count(distinct recipient_id)::int as due from deliveries where settled_at is null
       and recipient_id in (select id from organisations)`,
    );
    return due <= 1;
  });
  const seconds = Math.round((performance.now() - returnedAt) / 1_000);
  const ownSubscriptions = new Set(
    back.received.filter((each) => !isAccepted(each)).map(({ event }) => event.subscription.id),
  );
  const expected = new Map([...recorded].filter(([id]) => !ownSubscriptions.has(id)));
  const { lost, violations, arrived } = countArrivals(back.received.filter(isAccepted), expected);
  assert.deepEqual({ lost, violations }, { lost: 0, violations: 0 });
  assert.deepEqual(await read("select status from callback_origins"), { status: "active" });
  t.diagnostic(
    `${practiceCount} practices behind one host: ${outage.attempts} attempts until it was held (${outage.held} practices held ` +
      `by themselves), 3 probes while it was away, ${arrived} events delivered within ${seconds} s of its return`,
  );
});
