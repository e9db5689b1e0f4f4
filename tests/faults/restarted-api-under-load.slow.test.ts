import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter, cloneDatabase, eventually, isFullRun, rounds } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { type ServiceProcess, startApiProcess } from "@ehr-marketplace/tests/support/service-process";
import { insertSubscriptions } from "./insert-subscriptions.ts";

/**
 * `npm test` runs other files at the same time. There the load is lower, with no more requests at once than the API has database
 * connections: on a busy machine, requests that wait for a connection get 503.
 */
const perSecond = isFullRun ? 200 : 50;
const maxPending = isFullRun ? Number.POSITIVE_INFINITY : 8;
const limits = isFullRun ? { MAX_EVENT_LOOP_DELAY_MS: "200" } : patientLimits;
const maxFirstSuccessMs = isFullRun ? 1_000 : 10_000;
const successesPerRound = 3 * perSecond;

interface SentChange {
  sentAt: number;
  endedAt: number;
  /** The status, and the code of a problem. `undefined`: the connection was refused, or broke before the response was complete. */
  result: string | undefined;
}

/** A time in which no process listens. */
interface Downtime {
  killedAt: number;
  listeningAt: number;
}

function getListeningTime({ logEntries }: ServiceProcess): number {
  const entry = logEntries.find(({ msg }) => String(msg).startsWith("Server listening"));
  return Date.parse(String(entry?.["time"]));
}

const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

test(`kill -9 of the API under ${perSecond} changes a second: requests fail only while no process listens`, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const subscriptions = await insertSubscriptions(ownerUrl, 2_000);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = { ...callers.environment, ...limits };
  const start = (): Promise<ServiceProcess> => startApiProcess(cleanUp, serviceUrl, { environment, port });

  const sent: SentChange[] = [];
  const pending = new Set<Promise<void>>();
  let requestCount = 0;
  /** Pauses all subscriptions one by one, then resumes them. A change whose response was lost is repeated in the next pass. */
  const change = async (nth: number): Promise<void> => {
    const isPause = Math.floor(nth / subscriptions.length) % 2 === 0;
    const id = subscriptions[nth % subscriptions.length];
    const sentAt = Date.now();
    const options = isPause ? { body: { reason: "ORG_REQUEST" } } : { method: "POST" };
    const path = `/subscriptions/${id}/${isPause ? "pause" : "resume"}`;
    const response = await sendApiRequest(url, path, callers.token("operator"), options).catch(() => undefined);
    const body = (await response?.json().catch(() => undefined)) as { code?: string } | undefined;
    const result = body === undefined ? undefined : [response?.status, body.code ?? []].flat().join(" ");
    sent.push({ sentAt, endedAt: Date.now(), result });
  };

  let api = await start();
  const began = performance.now();
  const timer = setInterval(() => {
    // A timer of a busy process fires late, so the number of requests follows from the time.
    const dueCount = ((performance.now() - began) / 1_000) * perSecond;
    for (; requestCount < dueCount && pending.size < maxPending; requestCount += 1) {
      const pendingChange: Promise<void> = change(requestCount).finally(() => pending.delete(pendingChange));
      pending.add(pendingChange);
    }
  }, 5);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(pending);
  };
  cleanUp(stop);

  const waitForSuccesses = async (): Promise<void> => {
    const countFrom = sent.length;
    const succeeded = (): number => sent.slice(countFrom).filter(({ result }) => result === "200").length;
    await eventually("changes succeed", 60_000, () => succeeded() >= successesPerRound);
  };
  const downtimes: Downtime[] = [];
  await waitForSuccesses();
  for (let round = 0; round < rounds(2, 20); round += 1) {
    const killedAt = Date.now();
    api.child.kill("SIGKILL");
    await api.exited;
    api = await start();
    downtimes.push({ killedAt, listeningAt: getListeningTime(api) });
    await waitForSuccesses();
  }
  await stop();

  const failed = sent.filter(({ result }) => result === undefined);
  const refused = sent.filter(({ result }) => result !== undefined && result !== "200");
  const isExplained = ({ sentAt, endedAt }: SentChange): boolean =>
    downtimes.some(({ killedAt, listeningAt }) => sentAt <= listeningAt && endedAt >= killedAt);
  const firstSuccessesMs = downtimes.map(({ killedAt, listeningAt }) => {
    const successes = sent.filter(({ sentAt, result }) => sentAt > killedAt && result === "200");
    return Math.min(...successes.map(({ endedAt }) => endedAt)) - listeningAt;
  });
  const downtimesMs = downtimes.map(({ killedAt, listeningAt }) => listeningAt - killedAt);
  const durations = sent.filter(({ result }) => result === "200").map(({ sentAt, endedAt }) => endedAt - sentAt);
  t.diagnostic(
    `${downtimes.length} kills under ${perSecond} changes a second: ${durations.length} succeeded, the slowest in ` +
      `${Math.max(...durations)} ms; ${failed.length} failed, ${failed.filter((each) => !isExplained(each)).length} of them ` +
      `while a process listened; ${refused.length} got another response; from kill to listening median ${median(downtimesMs)} ms, longest ${Math.max(...downtimesMs)} ms; ` +
      `from listening to the first success median ${median(firstSuccessesMs)} ms, longest ${Math.max(...firstSuccessesMs)} ms`,
  );
  assert.deepEqual(
    failed.filter((each) => !isExplained(each)),
    [],
  );
  assert.deepEqual(
    refused.map(({ result }) => result),
    [],
  );
  assert.ok(Math.max(...firstSuccessesMs) <= maxFirstSuccessMs);
});
