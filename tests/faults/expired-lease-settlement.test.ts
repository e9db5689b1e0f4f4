import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, startNetworkFaultProxy, withClient } from "@ehr-marketplace/test-kit";
import { expireLeases } from "@ehr-marketplace/tests/support/advance-time";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { countArrivals, waitUntilSettled } from "./arrivals.ts";

const count = 20;

test("a worker that was disconnected for longer than its lease doesn't settle deliveries that another has taken over", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const receiver = await startReceiver(cleanUp);
  const waiting = new Map<string, ServerResponse[]>();
  const waitingAt = (attempt: string): ServerResponse[] => waiting.get(attempt) ?? [];
  receiver.respond = ({ headers }, response) => {
    const attempt = String(headers["x-marketplace-attempt"]);
    waiting.set(attempt, [...waitingAt(attempt), response]);
  };
  const practices = await registerPractices(ownerUrl, { count, callbackUrl: receiver.url });
  const api = await startApiProcess(cleanUp, serviceUrl, { environment: callers.environment });
  const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
  const disconnected = await startWorkerProcess(cleanUp, proxy.url);
  const other = await startWorkerProcess(cleanUp, serviceUrl);

  const post = async (path: string, body: object): Promise<SubscriptionDto> => {
    const response = await sendApiRequest(api.url, path, callers.token("operator"), { body });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as SubscriptionDto;
  };
  const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
    id: string;
  }[];
  const create = ({ alias }: { alias: string }): Promise<SubscriptionDto> =>
    post("/subscriptions", { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id });
  const expected = new Map<string, string[]>();

  // Stop the other worker, so that the worker behind the proxy fetches all deliveries.
  other.child.kill("SIGSTOP");
  for (const created of await Promise.all(practices.map(create))) {
    const paused = await post(`/subscriptions/${created.id}/pause`, { reason: "ORG_REQUEST" });
    expected.set(created.id, [created.updatedAt, paused.updatedAt]);
  }
  await eventually("the first worker has sent all deliveries", 30_000, () => waitingAt("1").length === count);
  proxy.interrupt("delay");
  await expireLeases(ownerUrl);
  other.child.kill("SIGCONT");
  await eventually("the other worker has taken them over", 20_000, () => waitingAt("2").length === count);

  proxy.restore();
  for (const response of waitingAt("1")) response.writeHead(500).end();
  const state = () =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<Record<string, number>>(
        `select (select count(*) from delivery_attempts where attempt = 1 and outcome = 'failed')::int as closed,
           (select coalesce(sum(failures), 0) from deliveries)::int as failures,
           (select coalesce(sum(consecutive_failures), 0) from recipients)::int as in_a_row,
           (select count(*) from pgboss.job where name = 'deliveries' and state = 'active' and retry_count = 1)::int as theirs`,
      );
      return rows[0];
    });
  await eventually(
    "the first worker has recorded its attempts",
    20_000,
    async () => (await state())?.["closed"] === count,
  );
  assert.deepEqual(await state(), { closed: count, failures: 0, in_a_row: 0, theirs: count });

  receiver.respond = (_received, response) => response.writeHead(204).end();
  for (const response of waitingAt("2")) response.writeHead(204).end();
  await waitUntilSettled(ownerUrl);
  const { arrived, lost, unexpected, violations, duplicates } = countArrivals(receiver.received, expected);
  assert.deepEqual({ lost, unexpected, violations }, { lost: 0, unexpected: 0, violations: 0 });
  // More on a slow machine, where requests that the receiver keeps waiting time out.
  assert.ok(duplicates >= count, `${duplicates} duplicates`);
  assert.deepEqual([disconnected.child.exitCode, other.child.exitCode], [null, null]);
  t.diagnostic(
    `${count} deliveries taken over, ${arrived} events delivered, lost 0, none settled by the worker whose leases expired`,
  );
});
