import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import {
  assertPrompt,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  withClient,
} from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import pg from "pg";

const killAfterCommit = new URL("../faults/kill-after-commit.test-fixture.ts", import.meta.url).href;

describe("workers are woken after the commit", () => {
  const cleanUp = cleanUpAfter();
  let serviceUrl: string;
  let practices: { alias: string }[];
  let pricingPlanId: string | undefined;
  let token: string;
  let environment: Record<string, string>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ serviceUrl } = cloned);
    const callers = await fetchCallers();
    token = callers.token("operator");
    environment = { ...callers.environment, ...patientLimits, LOG_LEVEL: "error" };
    receiver = await startReceiver(cleanUp);
    practices = await registerPractices(cloned.ownerUrl, { count: 600, callbackUrl: receiver.url });
    pricingPlanId = await withClient(cloned.ownerUrl, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        "select pricing_plans.id from pricing_plans join apps on apps.id = app_id where slug = 'northwind-scribe' limit 1",
      );
      return rows[0]?.id;
    });
    await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } });
  });

  /** Subscribes the next practice; its EHR receives one event. Returns the practice's alias. */
  const subscribe = async (url: string): Promise<string> => {
    const orgAlias = practices.pop()?.alias ?? "";
    const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId };
    const response = await sendApiRequest(url, "/subscriptions", token, { body });
    assert.equal(response.status, 201, await response.text());
    return orgAlias;
  };
  const hasArrived = (alias: string): boolean =>
    receiver.received.some(({ event }) => event.subscription.orgAlias === alias);

  const countNotifications = async (until: CleanUp): Promise<() => number> => {
    const client = new pg.Client({ connectionString: serviceUrl });
    await client.connect();
    until(() => client.end());
    let notified = 0;
    client.on("notification", () => {
      notified += 1;
    });
    await client.query("listen deliveries_queued");
    return () => notified;
  };

  test("an API that is killed between commit and notification: the event arrives within 3 s", async (t) => {
    const until = cleanUpAfter(t);
    const notified = await countNotifications(until);
    let alias = "";
    const subscribeAndKill = async (): Promise<void> => {
      const api = await startApiProcess(until, serviceUrl, {
        environment: { ...environment, KILL_AFTER_COMMITS: "1" },
        nodeOptions: ["--import", killAfterCommit],
      });
      alias = practices.at(-1)?.alias ?? "";
      await assert.rejects(subscribe(api.url));
      await api.exited;
      assert.equal(api.child.signalCode, "SIGKILL");
    };
    const arrive = (): Promise<void> => eventually("the event has arrived", 30_000, () => hasArrived(alias));
    await assertPrompt(3_000, arrive, subscribeAndKill);
    assert.equal(notified(), 0);
  });

  test("200 concurrent writes share few notifications, and every event arrives", async (t) => {
    const until = cleanUpAfter(t);
    const notified = await countNotifications(until);
    const api = await startApiProcess(until, serviceUrl, { environment });
    let left = 200;
    const aliases: string[] = [];
    const write = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        aliases.push(await subscribe(api.url));
      }
    };
    // Twice as many as the API has connections. With more, a busy machine lets them wait for a connection until they time out.
    await Promise.all(Array.from({ length: 20 }, write));
    assert.equal(aliases.length, 200);
    await eventually("all events have arrived", 30_000, () => aliases.every(hasArrived));
    assert.ok(notified() >= 1 && notified() <= 100, `${notified()} notifications`);
    t.diagnostic(`200 writes, ${notified()} notifications`);
  });

  test("a worker of another process delivers a single event sooner than it polls", async (t) => {
    const until = cleanUpAfter(t);
    const api = await startApiProcess(until, serviceUrl, { environment });
    const measure = async (): Promise<number> => {
      const alias = await subscribe(api.url);
      const respondedAt = performance.now();
      await eventually("the event has arrived", 30_000, () => hasArrived(alias));
      return performance.now() - respondedAt;
    };
    // A worker that only polls every second reaches such a median once in 200 rounds. A busy machine may need a few rounds.
    const medians: number[] = [];
    await eventually(`the median of a round is below 200 ms`, 60_000, async () => {
      const latencies: number[] = [];
      for (let nth = 0; nth < 15; nth += 1) latencies.push(await measure());
      medians.push(latencies.toSorted((one, other) => one - other)[7] ?? Number.POSITIVE_INFINITY);
      return medians.some((median) => median < 200);
    });
    t.diagnostic(`medians of 15: ${medians.map(Math.round).join()} ms`);
  });
});
