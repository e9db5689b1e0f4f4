import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";
import { insertSubscriptions } from "./insert-subscriptions.ts";

const clients = 200;
/** Two successful changes per client on average: the process has caught up. */
const requiredSuccesses = 2 * clients;

test("an API process that starts under 200 concurrent changes serves them while they keep coming", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const subscriptions = await insertSubscriptions(ownerUrl, clients);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const statuses = new Map<number, number>();
  const stopped = new AbortController();

  const send = async (subscriptionId: string): Promise<void> => {
    for (let nth = 0; !stopped.signal.aborted; nth += 1) {
      const action = nth % 2 === 0 ? "pause" : "resume";
      const options = nth % 2 === 0 ? { body: { reason: "ORG_REQUEST" } } : { method: "POST" };
      const path = `/subscriptions/${subscriptionId}/${action}`;
      const response = await sendApiRequest(url, path, callers.token("operator"), options).catch(() => undefined);
      await response?.arrayBuffer();
      if (response === undefined) await delay(20);
      else statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  };
  const load = Promise.all(subscriptions.map(send));
  cleanUp(async () => {
    stopped.abort();
    await load;
  });
  const environment = { ...callers.environment, LOG_LEVEL: "fatal" };
  await startApiProcess(cleanUp, serviceUrl, { environment, port });
  await eventually(
    `${requiredSuccesses} changes succeed under load`,
    120_000,
    () => (statuses.get(200) ?? 0) >= requiredSuccesses,
  );
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  t.diagnostic(`${clients} clients from the start: ${JSON.stringify(Object.fromEntries(statuses))}`);
});
