import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, CreditDto, EstimateDto, NoticePage, StatementDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

const price = 300_000;

describe("POST /admin/subscriptions/{id}/credits", () => {
  const cleanUp = cleanUpAfter();
  let running: MarketplaceWithCallers;
  let id: string;
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(running.database.ownerUrl, (client) => client.query<T>(sql, values))).rows;
  before(async () => {
    running = await startMarketplaceWithCallers(cleanUp);
    // In all of the last month, which needn't be closed, and in this one.
    const [inserted] = await rows<{ id: string }>(
      `with plan as (
         insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, published_at)
         select mint_uuid(), id, 99, 'Flat', '', 'FLAT', 'USD', $1, 'MONTH', now() from apps where slug = 'northwind-scribe'
         returning id, app_id
       )
       insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision, fhir_scopes)
       select mint_uuid(), organisations.id, app_id, plan.id, 'active', begins, begins, 1, '' from plan, organisations,
         date_trunc('month', now() at time zone 'UTC') as begins where alias = 'riverside-clinic' returning id`,
      price,
    );
    id = inserted?.id ?? assert.fail("no subscription");
  });
  type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];
  const get = async <T>(persona: Persona, path: string): Promise<T> => {
    const response = await running.requestAs(persona, path);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as T;
  };
  const credit = (body: object, key: string | undefined, persona: Persona = "billing"): Promise<Response> =>
    running.requestAs(persona, `/admin/subscriptions/${id}/credits`, {
      method: "POST",
      body,
      headers: key === undefined ? {} : { "idempotency-key": key },
    });

  test("requires a key and one line of text, and credits once however often it is repeated", async () => {
    const body = { amount: 1_200, text: "The app was down on 3 May" };
    const missing = await assertProblem(await credit(body, undefined), 400, "invalid-request");
    assert.match(JSON.stringify(missing), /idempotency-key/);
    for (const invalid of [
      { ...body, amount: 0 },
      { ...body, amount: 0.5 },
      { ...body, amount: -1 },
      { ...body, text: " " },
      { ...body, text: "two\nlines" },
      { ...body, text: "\u202egnp.eldnik" },
      { ...body, text: "x".repeat(201) },
      { amount: 1 },
    ]) {
      await assertProblem(await credit(invalid, "invalid"), 400, "invalid-request");
    }
    const responses = await Promise.all([1, 2, 3].map(() => credit(body, "once")));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [201, 201, 201],
    );
    const [given, ...repeated] = (await Promise.all(responses.map((response) => response.json()))) as CreditDto[];
    assertShape("CreditDto", given);
    for (const each of repeated) assert.deepEqual(each, given);
    await assertProblem(await credit({ ...body, amount: 1_300 }, "once"), 422, "idempotency-key-reused");
    assert.deepEqual(await rows("select amount::int as amount from credits"), [{ amount: 1_200 }]);
    const { items } = await get<AuditPage>("operator", `/organisations/riverside-clinic/audit?targetId=${id}`);
    assert.deepEqual(
      items.filter(({ action }) => action === "subscription.credit").map(({ actor, after }) => [actor.role, after]),
      [["billing", { creditId: given?.id, ...body, currency: "USD", month: given?.month }]],
    );
  });

  test("is on the statement and the estimate, and gives the spend limit no room", async () => {
    const estimate = await get<EstimateDto>("riverside-admin", `/subscriptions/${id}/estimate`);
    assertShape("EstimateDto", estimate);
    const { month, total, projectedTotal, credited, lines } = estimate;
    assert.deepEqual([Number(credited), lines.at(-1)?.description], [1_200, "The app was down on 3 May"]);
    assert.equal(
      lines.reduce((sum, { amount }) => sum + Number(amount), 0),
      total,
    );
    assert.equal(projectedTotal, price - 1_200);
    const statement = await get<StatementDto>("riverside-admin", `/organisations/riverside-clinic/statements/${month}`);
    assertShape("StatementDto", statement);
    assert.deepEqual(statement.totals, [{ currency: "USD", total, carriedOver: 0, due: total }]);
    const line = statement.lines.at(-1);
    assert.deepEqual([line?.amount, line?.quantity, line?.adjusts], [-1_200, "-1", null]);
    const limit = { amount: Number(total) + 1_199, onReached: "notify" };
    const refused = await running.requestAs("riverside-admin", `/subscriptions/${id}/spend-limit`, {
      method: "PUT",
      body: limit,
    });
    await assertProblem(refused, 409, "limit-below-cost");
  });

  test("tells the practice and the vendor", async () => {
    for (const [persona, path] of [
      ["riverside-admin", "/organisations/riverside-clinic/notices"],
      ["northwind-developer", "/developer/notices"],
    ] as const) {
      const { items } = await get<NoticePage>(persona, path);
      const [notice, ...others] = items.filter(({ kind }) => kind === "credit");
      assert.deepEqual(others, []);
      assert.match(notice?.subject ?? "", / got a credit of 12\.00 USD /);
      assert.match(notice?.detail ?? "", /The app was down on 3 May$/);
    }
  });

  test("is refused above what is left of the charges, with that amount, and after 100 in a month", async () => {
    const { total } = await get<EstimateDto>("billing", `/subscriptions/${id}/estimate`);
    const tooMuch = await assertProblem(
      await credit({ amount: Number(total) + 1, text: "All" }, "all"),
      422,
      "credit-above-charge",
    );
    assert.ok(String(tooMuch["detail"]).startsWith(`At most ${(Number(total) / 100).toFixed(2)} USD `));
    // The key of what was refused is free.
    assert.equal((await credit({ amount: 1, text: "One" }, "all")).status, 201);
    await rows(
      `insert into credits (id, subscription_id, month, amount, text, charged, created_at)
       select mint_uuid(), $1, date_trunc('month', now() at time zone 'UTC'), 1, 'Many', 1000000, now() from generate_series(1, 98)`,
      id,
    );
    await assertProblem(await credit({ amount: 1, text: "One more" }, "more"), 422, "too-many-credits");
    const unknown = running.requestAs("billing", `/admin/subscriptions/${crypto.randomUUID()}/credits`, {
      method: "POST",
      body: { amount: 1, text: "x" },
      headers: { "idempotency-key": "unknown" },
    });
    await assertProblem(await unknown, 404, "subscription-not-found");
  });
});
