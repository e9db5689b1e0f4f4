import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { test } from "node:test";
import type { PricingPlanDto, SubscriptionDto, UsageDto, UsageResults } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, rounds, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";

const fixture = new URL("./kill-after-commit.test-fixture.ts", import.meta.url).href;
const recordsPerBatch = 100;

test("a batch of usage that is sent five times at once to two processes, one of them killed, counts once", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const start = (environment: Record<string, string> = {}, nodeOptions: string[] = []) =>
    startApiProcess(cleanUp, serviceUrl, {
      environment: { ...callers.environment, ...patientLimits, LOG_LEVEL: "error", ...environment },
      nodeOptions,
    });
  const survivor = await start();
  const send = <T>(path: string, persona: "operator" | "northwind-developer", body?: object): Promise<T> =>
    sendApiRequest(survivor.url, path, callers.token(persona), body === undefined ? {} : { body }).then(
      async (response) => {
        assert.ok(response.ok, await response.clone().text());
        return (await response.json()) as T;
      },
    );
  const plans = await send<PricingPlanDto[]>("/apps/northwind-scribe/pricing", "operator");
  const plan = plans.find(({ pricingModel }) => pricingModel === "USAGE") ?? assert.fail("no plan by usage");
  const body = { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId: plan.id };
  const { id } = await send<SubscriptionDto>("/subscriptions", "operator", body);

  const count = rounds(3, 20);
  let withoutResponse = 0;
  for (let round = 0; round < count; round += 1) {
    const killed = await start({ KILL_AFTER_COMMITS: String(randomInt(1, 4)) }, ["--import", fixture]);
    const occurredAt = new Date().toISOString();
    const records = Array.from({ length: recordsPerBatch }, () => ({
      id: randomUUID(),
      metric: plan.metric ?? "",
      quantity: "0.5",
      occurredAt,
    }));
    const report = async (url: string): Promise<UsageResults | undefined> => {
      const token = callers.token("northwind-developer");
      const response = await sendApiRequest(url, `/subscriptions/${id}/usage`, token, { body: { records } }).catch(
        () => undefined,
      );
      if (response === undefined) return undefined;
      const text = await response.text().catch(() => undefined);
      if (text === undefined) return undefined;
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as UsageResults;
    };
    const urls = [killed.url, survivor.url, killed.url, survivor.url, killed.url];
    const responses = await Promise.all(urls.map(report));
    withoutResponse += responses.filter((response) => response === undefined).length;
    // A vendor repeats what had no response.
    const repeated = await report(survivor.url);
    assert.ok(repeated?.results.every(({ status }) => status === "duplicate"));
    if (killed.child.exitCode === null && killed.child.signalCode === null) killed.child.kill("SIGKILL");
    await killed.exited;
  }

  const usage = await send<UsageDto>(`/subscriptions/${id}/usage?granularity=month`, "operator");
  const total = usage.items.reduce((sum, { quantity }) => sum + Number(quantity), 0);
  assert.equal(total, (count * recordsPerBatch) / 2);
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query("select from events where subscription_id = $1 and event = 'usage.reported'", [id]),
  );
  assert.equal(rows.length, count, "one event for each batch");
  t.diagnostic(
    `${count} batches of ${recordsPerBatch} records, each sent 6 times: ${withoutResponse} without a response`,
  );
});
