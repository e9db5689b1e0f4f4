import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, rounds, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import fc from "fast-check";
import type { Kysely } from "kysely";
import type pg from "pg";
import { beginsAt, findChargedDays } from "../billing/charged-days.ts";
import type { Month } from "../billing/month.ts";
import {
  dayPriceOf,
  histories,
  minutesOfDay,
  months,
  type PricedTerms,
  type PriceHistory,
  terms,
  timeOf,
  toAccount,
} from "../billing/price-histories.test-support.ts";
import type { DB } from "../database-schema.ts";
import type { Account } from "./account.ts";
import { findUndone } from "./find-undone.ts";
import { readAccounts } from "./read-accounts.ts";
import { lockSubscription } from "./subscription-store.ts";
import { insertUndoneIncrease } from "./undone-increase-store.ts";

const numRuns = rounds(15, 150);

describe("an account", () => {
  const cleanUp = cleanUpAfter();
  let database: Kysely<DB>;
  let ownerUrl: string;
  let practices: string[];
  const plans = new Map<string, string>();
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    ({ database } = await connectAsService<DB>(cleanUp, cloned.serviceUrl));
    const registered = await registerPractices(ownerUrl, { count: 200, callbackUrl: null, prefix: "account" });
    practices = registered.map(({ id }) => id);
    await withClient(ownerUrl, async (client) => {
      for (const { id, amount, interval } of terms) {
        const { rows } = await client.query<{ id: string }>(
          `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, published_at)
           select mint_uuid(), id, 200 + $3, $1, '', $2, 'USD', $3, $4, now() from apps where slug = 'northwind-scribe' returning id`,
          [id, amount === 0 ? "FREE" : "FLAT", amount, amount === 0 ? null : interval],
        );
        plans.set(id, rows[0]?.id ?? assert.fail());
      }
    });
  });

  /** Runs a history as the use cases do, and returns the last subscription. */
  async function run(client: pg.Client, organisationId: string, history: PriceHistory): Promise<string | undefined> {
    let live: string | undefined;
    let last: string | undefined;
    for (const { minute, ...step } of history) {
      const at = timeOf(minute);
      const planId = "terms" in step ? plans.get(step.terms.id) : null;
      const update = async (set: string, condition: string, value: unknown): Promise<void> => {
        await client.query(
          `update subscriptions set ${set}, updated_at = $2, revision = revision + 1
           where id = $1 and ${condition} and ($3::text is null or true)`,
          [live, at, value],
        );
      };
      if (step.do === "subscribe") {
        if (live !== undefined) continue;
        const { rows } = await client.query<{ id: string }>(
          `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, interval_amount, status, created_at, updated_at, revision,
             fhir_scopes, trial_ends_at)
           select mint_uuid(), $1, app_id, id, coalesce(amount, 0), 'active', $3, $3, 1, '', case when $4 > 0 and not exists (
             select from subscriptions where organisation_id = $1 and trial_ends_at is not null
           ) then $3::timestamptz + make_interval(days => $4) end
           from pricing_plans where id = $2 returning id`,
          [organisationId, planId, at, step.trialDays],
        );
        live = last = rows[0]?.id;
      } else if (live === undefined) {
        continue;
      } else if (step.do === "change") {
        await changeTo(client, live, planId ?? "", at);
      } else if (step.do === "pause") {
        await update("status = 'paused', paused_at = $2, pause_reason = $3", "status = 'active'", step.reason);
      } else if (step.do === "resume") {
        await update("status = 'active', paused_at = null, pause_reason = null", "status = 'paused'", null);
      } else {
        await update("status = 'cancelled', paused_at = null, pause_reason = null, cancelled_at = $2", "true", null);
        live = undefined;
      }
    }
    return last;
  }

  async function changeTo(client: pg.Client, id: string, planId: string, at: Date): Promise<void> {
    await database.transaction().execute(async (transaction) => {
      const locked = await lockSubscription(transaction, id);
      if (locked === undefined || locked.row.pricing_plan_id === planId) return;
      const { rows } = await client.query<{ dto: never }>("select dto from plan_records where id = $1", [planId]);
      const plan = rows[0]?.dto ?? assert.fail();
      const since = await findUndone(transaction, locked.row, { plan, quantity: null }, at);
      if (since !== null) await insertUndoneIncrease(transaction, { subscriptionId: id, from: since, to: at });
    });
    await client.query(
      `update subscriptions set pricing_plan_id = plan.id, interval_amount = coalesce(plan.amount, 0), updated_at = $3, revision = revision + 1
       from pricing_plans plan where plan.id = $2 and subscriptions.id = $1 and pricing_plan_id <> plan.id`,
      [id, planId, at],
    );
  }

  const charge = <Plan extends { id: string }>(account: Account<Plan>, month: Month, termsOf: (plan: Plan) => string) =>
    findChargedDays(month, account, ({ plan }) =>
      dayPriceOf(terms.find(({ id }) => id === termsOf(plan)) as PricedTerms, new Date(`${month}-01T00:00:00.000Z`)),
    ).map(({ start, subscriptionId, plan }) => [
      start.toISOString(),
      account.findIndex(({ id }) => id === subscriptionId),
      termsOf(plan),
    ]);

  let nth = 0;
  async function check(client: pg.Client, history: PriceHistory): Promise<void> {
    const organisationId = practices[nth] ?? assert.fail("there are too few practices");
    nth += 1;
    const last = await run(client, organisationId, history);
    const expected = toAccount(history);
    for (const month of months) {
      const [account = []] = await readAccounts(database, [last ?? ""], beginsAt(month));
      const read = charge(account, month, ({ name }) => name);
      // Those that were cancelled long before aren't read.
      const unread = expected.length - account.length;
      assert.deepEqual(
        read.map(([start, index, name]) => [start, Number(index) + unread, name]),
        charge(expected, month, ({ id }) => id),
        month,
      );
    }
  }

  test("is read as what happened, whatever happened", async () => {
    await withClient(ownerUrl, (client) =>
      fc.assert(
        fc.asyncProperty(histories, (history) => check(client, history)),
        { numRuns, endOnFailure: true },
      ),
    );
  });

  test("has the dearest terms of the day on which a trial ends, also if there were dearer ones in the trial", async () => {
    const [free, small, large] = terms as [PricedTerms, PricedTerms, PricedTerms];
    const end = 20 * minutesOfDay + 5;
    const change = (minute: number, to: PricedTerms) => ({ minute, do: "change", terms: to }) as const;
    const history = [
      { minute: end - 14 * minutesOfDay, do: "subscribe", terms: free, trialDays: 14 } as const,
      change(end - 3, large),
      change(end - 2, small),
      change(end + 1_000, free),
    ];
    await withClient(ownerUrl, (client) => check(client, history));
    const [first] = charge(toAccount(history), "2027-01", ({ id }) => id);
    assert.deepEqual(first, ["2027-01-21T00:00:00.000Z", 0, "small"]);
  });

  test("has the terms before an increase that counts as never made, also if they were in force only then", async () => {
    const [, small, large] = terms as [PricedTerms, PricedTerms, PricedTerms];
    const from = 40 * minutesOfDay + 60;
    const history = [
      { minute: 0, do: "subscribe", terms: small, trialDays: 0 },
      { minute: 60, do: "pause", reason: "ORG_REQUEST" },
      { minute: from, do: "change", terms: large },
      { minute: from + 1, do: "resume" },
      { minute: from + 46, do: "pause", reason: "ORG_REQUEST" },
      { minute: from + 59, do: "change", terms: small },
    ] as const;
    await withClient(ownerUrl, (client) => check(client, history));
    const charged = charge(toAccount(history), "2027-02", ({ id }) => id);
    assert.deepEqual([charged.length, charged[0]?.[2]], [7, "small"]);
  });
});
