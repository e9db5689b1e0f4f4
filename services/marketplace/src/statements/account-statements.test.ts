import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { RequestContext } from "../access/request-context.ts";
import { checkSpendLimits } from "../billing/check-spend-limits.ts";
import { highUsageLimits } from "../billing/usage-limits.test-support.ts";
import type { DB } from "../database-schema.ts";
import { changeSubscription } from "../subscriptions/change-subscription.ts";
import { createSubscription } from "../subscriptions/create-subscription.ts";
import { runAt } from "./statements.test-support.ts";

const request = { key: undefined, method: "POST", path: "", body: undefined };
const caller = {
  issuer: "https://idp.example",
  subject: "operator",
  roles: new Set(["operator"]),
  organisations: new Map(),
  vendors: new Set(),
  ignoredRoleReasons: [],
} as unknown as RequestContext["caller"];

describe("an organisation's subscriptions to an app", () => {
  const cleanUp = cleanUpAfter();

  async function prepare() {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const connected = await connectAsService<DB>(cleanUp, serviceUrl);
    await registerPractices(ownerUrl, { count: 1, callbackUrl: null, prefix: "again" });
    const query = <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
      withClient(ownerUrl, async (client) => (await client.query<T>(sql, values)).rows);
    const [plan] = await query<{ id: string }>(
      `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, published_at)
       select mint_uuid(), id, 200, 'Flat', '', 'FLAT', 'USD', 3100, 'MONTH', now() from apps where slug = 'northwind-scribe' returning id`,
    );
    const bodyDigest = createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency");
    const by = { caller, requestId: "test" };
    const depsAt = (at: string) => ({
      ...connected,
      bodyDigest,
      usageLimits: highUsageLimits,
      clock: () => new Date(at),
    });
    const subscribe = async (at: string, pricingPlanId = plan?.id ?? ""): Promise<string> => {
      const input = { appSlug: "northwind-scribe", orgAlias: "again-1", pricingPlanId };
      return (await createSubscription(depsAt(at), by, input, request)).id;
    };
    const cancel = (at: string, id: string) => changeSubscription(depsAt(at), by, id, { do: "cancel" }, request);
    const resume = (at: string, id: string) => changeSubscription(depsAt(at), by, id, { do: "resume" }, request);
    const lines = (month: string) =>
      query<{ id: string; days: number | null; amount: number; adjusts: string | null }>(
        `select subscription_id as id, days, amount::int as amount, to_char(adjusts, 'YYYY-MM') as adjusts from closed_lines
         where month = $1 order by subscription_id, number`,
        `${month}-01`,
      );
    return { ...connected, query, subscribe, cancel, resume, lines };
  }

  test("charge the days between, also those of a month that was closed before", async () => {
    const { database, subscribe, cancel, lines } = await prepare();
    const first = await subscribe("2027-01-05T10:00:00.000Z");
    await cancel("2027-01-29T10:00:00.000Z", first);
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    assert.deepEqual(await lines("2027-01"), [{ id: first, days: 25, amount: 2_500, adjusts: null }]);
    const second = await subscribe("2027-02-05T09:00:00.000Z");
    await runAt(database, new Date("2027-03-04T00:00:00.000Z"));
    assert.deepEqual(await lines("2027-02"), [
      { id: first, days: 4, amount: 443, adjusts: null },
      { id: first, days: null, amount: 200, adjusts: "2027-01" },
      { id: second, days: 24, amount: 2_657, adjusts: null },
    ]);
  });

  test("don't charge a gap of seven days", async () => {
    const { database, subscribe, cancel, lines } = await prepare();
    const first = await subscribe("2027-01-05T10:00:00.000Z");
    await cancel("2027-01-10T10:00:00.000Z", first);
    const second = await subscribe("2027-01-17T10:00:00.000Z");
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    assert.deepEqual(await lines("2027-01"), [
      { id: first, days: 6, amount: 600, adjusts: null },
      { id: second, days: 15, amount: 1_500, adjusts: null },
    ]);
  });

  test("don't charge a gap between two currencies, nor keep the limit", async () => {
    const { database, query, subscribe, cancel, lines } = await prepare();
    const [euros] = await query<{ id: string }>(
      `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, published_at)
       select mint_uuid(), id, 201, 'Euros', '', 'FLAT', 'EUR', 310000, 'MONTH', now() from apps where slug = 'northwind-scribe' returning id`,
    );
    const first = await subscribe("2027-01-05T10:00:00.000Z", euros?.id);
    await setLimit(query, first, 500_000);
    await cancel("2027-01-10T10:00:00.000Z", first);
    const second = await subscribe("2027-01-12T10:00:00.000Z");
    assert.deepEqual(await query("select from spend_limits where subscription_id = $1", second), []);
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    assert.deepEqual(await lines("2027-01"), [
      { id: first, days: 6, amount: 60_000, adjusts: null },
      { id: second, days: 20, amount: 2_000, adjusts: null },
    ]);
  });

  const setLimit = (query: (sql: string, ...values: unknown[]) => Promise<object[]>, id: string, amount: number) =>
    query(
      `insert into spend_limits select $1, $2, 'pause', 'i', 's', 'org-admin', 'r', now()
       on conflict (subscription_id) do update set amount = excluded.amount`,
      id,
      amount,
    );

  test("have the spend limit that was set before, which pauses at once if it is reached", async () => {
    const { query, subscribe, cancel } = await prepare();
    const first = await subscribe("2027-01-05T10:00:00.000Z");
    await setLimit(query, first, 750);
    await cancel("2027-01-10T10:00:00.000Z", first);
    const stateOf = async (id: string) =>
      (
        await query(
          "select status, pause_reason, amount::int from subscriptions join spend_limits on subscription_id = id where id = $1",
          id,
        )
      )[0];
    const second = await subscribe("2027-01-11T10:00:00.000Z");
    assert.deepEqual(await stateOf(second), { status: "active", pause_reason: null, amount: 750 });
    await cancel("2027-01-12T10:00:00.000Z", second);
    const third = await subscribe("2027-01-12T11:00:00.000Z");
    assert.deepEqual(await stateOf(third), { status: "paused", pause_reason: "SPEND_LIMIT", amount: 750 });
  });

  test("a pause at the limit isn't resumed below what the month costs then", async () => {
    const { database, queue, query, subscribe, resume, lines } = await prepare();
    const id = await subscribe("2027-01-01T10:00:00.000Z");
    await setLimit(query, id, 1_000);
    const logger = createLogger({ service: "test", level: "silent" }, { write: () => undefined });
    const check = (at: string) =>
      checkSpendLimits({ database, queue, logger, clock: () => new Date(at), stopped: new AbortController().signal });
    await check("2027-01-10T00:05:00.000Z");
    await setLimit(query, id, 1_100);
    // 10 days until the pause, and 6 more if it is the practice's own.
    await assert.rejects(
      resume("2027-01-20T10:00:00.000Z", id),
      /has cost 16\.00 USD in 2027-01, and its limit is 11\.00 USD/,
    );
    await setLimit(query, id, 5_000);
    await resume("2027-01-20T10:00:00.000Z", id);
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    assert.deepEqual(await lines("2027-01"), [{ id, days: 28, amount: 2_800, adjusts: null }]);
  });
});
