import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AdminAppDto } from "@ehr-marketplace/contracts";
import { insertSubscribers, registerPractices } from "@ehr-marketplace/dev/practices";
import {
  cleanUpAfter,
  cloneDatabase,
  eventually,
  isFullRun,
  rounds,
  timeLimitMs,
  withClient,
} from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { findInconsistencies } from "@ehr-marketplace/tests/support/subscription-consistency";
import { committedEvents, countArrivals, waitUntilSettled } from "./arrivals.ts";

const slug = "northwind-scribe";
const subscribers = 1_000;
const count = rounds(2, 20);

test("kill -9 of API and worker during suspensions and reinstatements: each subscription is paused and resumed once, and its EHR is told in order", {
  timeout: timeLimitMs(count, 90),
}, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const query = <T>(statement: string, values: unknown[] = []): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  await query("select adopt_apps()");
  const receiver = await startReceiver(cleanUp);
  const practices = await registerPractices(ownerUrl, { count: subscribers, callbackUrl: receiver.url });
  const ids = await insertSubscribers(ownerUrl, slug, practices);
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const startApi = (): Promise<ServiceProcess> =>
    startApiProcess(cleanUp, serviceUrl, { environment: { ...environment, ...patientLimits } });
  const startWorker = (): Promise<ServiceProcess> => startWorkerProcess(cleanUp, serviceUrl, { environment });
  let [api, worker] = await Promise.all([startApi(), startWorker()]);

  const restart = async (given: ServiceProcess, start: () => Promise<ServiceProcess>): Promise<ServiceProcess> => {
    given.child.kill("SIGKILL");
    await given.exited;
    return start();
  };
  const readApp = async (): Promise<AdminAppDto> => {
    const response = await sendApiRequest(api.url, `/admin/apps/${slug}`, callers.token("operator"));
    assert.equal(response.status, 200);
    return (await response.json()) as AdminAppDto;
  };
  /** Sends the command until it is known to be committed; a killed API may have committed it without a response. */
  const operate = async (command: "suspend" | "reinstate", killsApi: boolean): Promise<void> => {
    const status = command === "suspend" ? "suspended" : "published";
    const body = command === "suspend" ? { body: { reason: "Taken over", pauseSubscriptions: true } } : {};
    const options = { method: "POST", ...body };
    const sent = sendApiRequest(api.url, `/admin/apps/${slug}/${command}`, callers.token("operator"), options);
    const settled = sent.then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
    if (killsApi) {
      await delay(randomInt(15));
      api = await restart(api, startApi);
    }
    await settled;
    if ((await readApp()).status !== status) await operate(command, false);
  };
  const untilState = (state: string | undefined): Promise<void> =>
    eventually(`the subscriptions are ${state ?? "resumed"}`, 120_000, async () => {
      return (await readApp()).suspension?.subscriptions?.state === state;
    });
  const killWorkerSoon = async (): Promise<void> => {
    await delay(randomInt(2_000));
    worker = await restart(worker, startWorker);
  };

  let fullPasses = 0;
  for (let round = 0; round < count; round += 1) {
    // A killed worker's step is taken over after its lease expires; in a short run, each round has one.
    const killsPausing = round % 4 === 0 || round % 4 === 3;
    await operate("suspend", round % 2 === 0);
    if (isFullRun || killsPausing) await killWorkerSoon();
    // Every other suspension is undone before it has paused all.
    const isComplete = round % 2 === 1;
    if (isComplete) {
      await untilState("paused");
      fullPasses += 1;
      const states = await query("select distinct status, pause_reason from subscriptions where id = any ($1)", [ids]);
      assert.deepEqual(states, [{ status: "paused", pause_reason: "SECURITY" }]);
    }
    await operate("reinstate", round % 2 === 1);
    if (isFullRun || !killsPausing) await killWorkerSoon();
    await untilState(undefined);
    const states = await query("select distinct status, suspension_id from subscriptions where id = any ($1)", [ids]);
    assert.deepEqual(states, [{ status: "active", suspension_id: null }], `after round ${round + 1}`);
    assert.deepEqual(await findInconsistencies(ownerUrl), [], `after round ${round + 1}`);
    const twice = await query<{ event: string }>(
      `select subscription_id from (
           select subscription_id, event, lag(event) over (partition by subscription_id order by sequence) as before from events
           where subscription_id is not null
         ) ordered where event = before`,
    );
    assert.deepEqual(twice, [], "nothing was paused or resumed twice");
  }
  const [counted] = await query<{ paused: number; resumed: number; open: number }>(
    `select sum(paused)::int as paused, sum(resumed)::int as resumed, count(*) filter (where state <> 'ended')::int as open
       from suspensions`,
  );
  const [pauses] = await query<{ paused: number }>(
    "select count(*)::int as paused from events where event = 'subscription.paused'",
  );
  assert.deepEqual(counted, { paused: pauses?.paused, resumed: pauses?.paused, open: 0 });

  await waitUntilSettled(ownerUrl);
  const expected = await committedEvents(ownerUrl);
  // The first event of each subscription was inserted without deliveries.
  for (const timestamps of expected.values()) timestamps.shift();
  const { arrived, lost, unexpected, violations, duplicates } = countArrivals(receiver.received, expected);
  assert.deepEqual({ lost, unexpected, violations }, { lost: 0, unexpected: 0, violations: 0 });
  t.diagnostic(
    `${count} suspensions of ${subscribers} subscriptions, ${fullPasses} of them complete: ${arrived} events ` +
      `delivered, lost 0, order violations 0, ${duplicates} duplicates`,
  );
});
