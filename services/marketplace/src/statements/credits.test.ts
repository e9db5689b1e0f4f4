import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { RequestContext } from "../access/request-context.ts";
import type { VendorContext } from "../access/vendor-context.ts";
import { highUsageLimits } from "../billing/usage-limits.test-support.ts";
import type { DB } from "../database-schema.ts";
import { changeSubscription } from "../subscriptions/change-subscription.ts";
import { createSubscription } from "../subscriptions/create-subscription.ts";
import { giveCredit } from "./give-credit.ts";
import {
  listOrganisationStatements,
  readOrganisationStatement,
  statementToCsv,
} from "./read-organisation-statements.ts";
import { listVendorStatements, openVendorCsv, readVendorStatement } from "./read-vendor-statements.ts";
import { runAt } from "./statements.test-support.ts";
import { openStatementStream } from "./stream-statements.ts";

const caller = {
  issuer: "https://idp.example",
  subject: "operator",
  roles: new Set(["operator"]),
  organisations: new Map(),
  vendors: new Set(),
  ignoredRoleReasons: [],
} as unknown as RequestContext["caller"];
const vendor = { vendor: "northwind-health" } as VendorContext;
const alias = "credited-1";

describe("credits", () => {
  const cleanUp = cleanUpAfter();

  /** A practice that pays so much a month for Northwind Scribe, of which the marketplace has a tenth. */
  async function prepare(amount: number) {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const connected = await connectAsService<DB>(cleanUp, serviceUrl);
    const { database } = connected;
    await registerPractices(ownerUrl, { count: 1, callbackUrl: null, prefix: "credited" });
    const query = <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
      withClient(ownerUrl, async (client) => (await client.query<T>(sql, values)).rows);
    await query("update vendors set commission_percent = 10, updated_at = '2026-12-01'");
    const [plan] = await query<{ id: string }>(
      `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, published_at)
       select mint_uuid(), id, 200, 'Flat', '', 'FLAT', 'USD', $1, 'MONTH', now() from apps where slug = 'northwind-scribe' returning id`,
      amount,
    );
    const bodyDigest = createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency");
    const by = { caller, requestId: "test" };
    const request = { key: undefined, method: "POST", path: "", body: undefined };
    const depsAt = (at: string) => ({
      ...connected,
      bodyDigest,
      usageLimits: highUsageLimits,
      clock: () => new Date(at),
    });
    const subscribe = async (at: string): Promise<string> => {
      const input = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id ?? "" };
      return (await createSubscription(depsAt(at), by, input, request)).id;
    };
    return {
      query,
      serviceUrl,
      subscribe,
      cancel: (at: string, id: string) => changeSubscription(depsAt(at), by, id, { do: "cancel" }, request),
      credit: (at: string, id: string, credited: number, text = "Outage") =>
        giveCredit(depsAt(at), by, id, { amount: credited, text }, request),
      runUntil: (at: string) => runAt(database, new Date(at)),
      statement: (at: string, month: string) => readOrganisationStatement(depsAt(at), caller, alias, month),
      months: async (at: string) =>
        (await listOrganisationStatements(depsAt(at), caller, alias, { limit: 100 })).items.map(
          ({ month, totals }) => ({
            month,
            totals,
          }),
        ),
      vendorStatement: (at: string, month: string) => readVendorStatement(depsAt(at), vendor, month),
      vendorMonths: async (at: string) => (await listVendorStatements(depsAt(at), vendor, { limit: 100 })).items,
      vendorCsv: async (at: string, month: string) =>
        (await (await openVendorCsv(depsAt(at), vendor, month)).toArray()).join(""),
      stream: async (at: string, month: string, perPage?: number) =>
        (await (await openStatementStream(depsAt(at), month, perPage)).toArray())
          .join("")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  }

  test("Credit above charge", async () => {
    const { subscribe, cancel, credit, query } = await prepare(30_000);
    const first = await subscribe("2027-04-01T10:00:00.000Z");
    await cancel("2027-04-10T10:00:00.000Z", first);
    const second = await subscribe("2027-04-11T10:00:00.000Z");
    const at = "2027-04-30T12:00:00.000Z";
    await assert.rejects(credit(at, second, 30_001), /At most 300\.00 USD can be credited/);
    await credit(at, second, 20_000);
    // The charges are those of the account, whichever of its subscriptions is credited.
    const given = await Promise.allSettled([first, second, first, second].map((id) => credit(at, id, 10_000)));
    const refused = given.filter((each) => each.status === "rejected");
    assert.equal(refused.length, 3);
    for (const { reason } of refused) assert.match(String(reason), /At most 0\.00 USD can be credited/);
    const [sum] = await query("select sum(amount)::int as sum, count(*)::int as count from credits");
    assert.deepEqual(sum, { sum: 30_000, count: 2 });
    const document = await readFile(new URL("../../../../docs/prices.md", import.meta.url), "utf8");
    assert.match(document, /\| Credit above charge +\|.*\| 0\.00 +\|/);
  });

  test("the database limits, keeps and closes them, whoever writes", async () => {
    const { subscribe, credit, query, serviceUrl, runUntil } = await prepare(3_100);
    const id = await subscribe("2027-01-01T10:00:00.000Z");
    const insert = (month: string, amount: number, charged: number): Promise<unknown> =>
      withClient(serviceUrl, (client) =>
        client.query(
          `insert into credits (id, subscription_id, month, amount, text, charged, created_at)
           values (gen_random_uuid(), $1, $2, $3, 'x', $4, now())`,
          [id, month, amount, charged],
        ),
      );
    await query(
      "update organisations set kind = 'SANDBOX', vendor_id = (select id from vendors limit 1) where alias = $1",
      alias,
    );
    await assert.rejects(
      credit("2027-01-02T12:00:00.000Z", id, 1),
      /At most 0\.00 USD/,
      "a sandbox is charged nothing",
    );
    await query("update organisations set kind = 'LIVE', vendor_id = null where alias = $1", alias);
    await runUntil("2027-02-10T00:00:00.000Z");
    await assert.rejects(insert("2027-01-01", 1, 9_999), /a credit is given in an open month/);
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => insert("2027-02-01", 50, 100)));
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 2);
    for (const change of ["update credits set amount = 1", "delete from credits", "truncate credits"]) {
      await assert.rejects(query(change), /a credit can't change/, change);
    }
    const privileges = await query(
      `select table_name as name, string_agg(distinct privilege_type, ' ' order by privilege_type) as granted from information_schema.role_table_grants
       where grantee = 'marketplace_service' and table_name in ('credits', 'carried_over') group by 1 order by 1`,
    );
    assert.deepEqual(privileges, [
      { name: "carried_over", granted: "INSERT SELECT" },
      { name: "credits", granted: "INSERT SELECT" },
    ]);
    await assert.rejects(
      query(
        "insert into carried_over (month, party, party_id, currency, amount) values ('2027-02-01', 'organisation', $1, 'USD', -1)",
        id,
      ),
      /isn't being closed/,
    );
    // As a worker of an earlier version would close it.
    await withClient(serviceUrl, async (client) => {
      await client.query("begin");
      await client.query(
        "update statement_months set status = 'closing', phase = 'charging' where month = '2027-02-01'",
      );
      const next = client.query("update statement_months set phase = 'totalling' where month = '2027-02-01'");
      await assert.rejects(next, /with each of its credits, once/);
      await client.query("rollback");
    });
  });

  test("a correction of a month with a credit corrects its charges, and a cancelled subscription is credited", async () => {
    const { query, subscribe, cancel, credit, runUntil, statement, stream, vendorMonths } = await prepare(3_100);
    const first = await subscribe("2027-01-05T10:00:00.000Z");
    await credit("2027-01-20T10:00:00.000Z", first, 500, "Outage in January");
    await cancel("2027-01-29T10:00:00.000Z", first);
    await runUntil("2027-02-04T00:00:00.000Z");
    // 30 and 31 January are charged, too.
    const second = await subscribe("2027-02-05T09:00:00.000Z");
    await cancel("2027-02-05T10:00:00.000Z", second);
    await runUntil("2027-03-04T00:00:00.000Z");
    // The first subscription has no other line in April.
    await credit("2027-04-10T10:00:00.000Z", first, 100, "Settled in April");
    const lines = async (month: string) =>
      (await statement("2027-05-10T00:00:00.000Z", month)).lines.map(
        ({ subscriptionId, description, amount, ...line }) => ({
          is: subscriptionId === first ? "first" : "second",
          description: line.creditId === null ? null : description,
          amount,
          adjusts: line.adjusts,
        }),
      );
    const april = [{ is: "first", description: "Settled in April", amount: -100n, adjusts: null }];
    assert.deepEqual(await lines("2027-04"), april);
    await runUntil("2027-05-04T00:00:00.000Z");
    assert.deepEqual(await lines("2027-04"), april);
    assert.deepEqual(await lines("2027-01"), [
      { is: "first", description: null, amount: 2_500n, adjusts: null },
      { is: "first", description: "Outage in January", amount: -500n, adjusts: null },
    ]);
    assert.deepEqual(
      (await lines("2027-02")).filter(({ adjusts }) => adjusts !== null),
      [{ is: "first", description: null, amount: 200n, adjusts: "2027-01" }],
    );
    // Nothing is charged after April, and what is carried over waits.
    const end = "2027-07-04T00:00:00.000Z";
    await runUntil(end);
    const waiting = { totals: [{ currency: "USD", total: 0n, carriedOver: -100n, due: 0n }], lines: [] };
    const listed = await vendorMonths(end);
    for (const [month, status] of [
      ["2027-05", "closed"],
      ["2027-06", "closed"],
      ["2027-07", "open"],
    ] as const) {
      const { totals, lines: none } = await statement(end, month);
      assert.deepEqual({ totals, lines: none }, waiting, month);
      const ofVendor = listed.find((each) => each.month === month);
      assert.deepEqual(ofVendor?.balances, [{ currency: "USD", net: 0n, carriedOver: -90n, due: 0n }], month);
      const head = { month, status, asOf: status === "open" ? end : null };
      const usd = { currency: "USD", carriedOver: -100, due: 0 };
      const streamed = [
        { type: "statement", ...head, orgAlias: alias, ...usd, total: 0, lines: [] },
        { type: "balance", ...head, vendor: "northwind-health", ...usd, carriedOver: -90, net: 0 },
        { type: "end", ...head, statements: 1, vendors: 0, totals: [{ ...usd, total: 0 }] },
      ];
      assert.deepEqual(await stream(end, month), streamed, month);
    }
    const credited = await query("select from closed_lines where credit_id is not null");
    assert.equal(credited.length, 2, "each credit is a line of one statement");
  });

  test("four months count, the current month has the credit, and a negative total is carried over until it is used up", async () => {
    const given = await prepare(3_100);
    const { subscribe, credit, runUntil, statement, vendorStatement, stream } = given;
    const id = await subscribe("2027-01-01T10:00:00.000Z");
    // January to March are closed, and April is still open: 3 × 31.00, and two days of May.
    const at = "2027-05-02T10:00:00.000Z";
    await runUntil(at);
    await assert.rejects(credit(at, id, 9_501), /At most 95\.00 USD/);
    assert.equal((await credit(at, id, 9_500)).month, "2027-05");
    assert.equal((await statement(at, "2027-05")).totals[0]?.total, 200n - 9_500n);
    const end = "2027-09-04T00:00:00.000Z";
    await runUntil(end);
    const carried = (await given.months(end))
      .toReversed()
      .map(({ month, totals: [total] }) => [month, total?.carriedOver, total?.due]);
    assert.deepEqual(carried.slice(3, 8), [
      ["2027-04", 0n, 3_100n],
      ["2027-05", 0n, 0n],
      ["2027-06", -6_400n, 0n],
      ["2027-07", -3_300n, 0n],
      ["2027-08", -200n, 2_900n],
    ]);
    // The commission is on what is left.
    const may = await vendorStatement(end, "2027-05");
    const balance = { currency: "USD", net: -5_760n, carriedOver: 0n, due: 0n };
    assert.deepEqual([may.totals[0]?.gross, may.totals[0]?.commission, may.balances], [-6_400n, -640n, [balance]]);
    assert.deepEqual(
      may.lines.map(({ description, amount }) => [description, amount]),
      [
        ["Northwind Scribe", 3_100n],
        ["Northwind Scribe, credits", -9_500n],
        ["Commission, 10 %", 640n],
      ],
    );
    const june = await statement(end, "2027-06");
    assert.deepEqual(june.totals, [{ currency: "USD", total: 3_100n, carriedOver: -6_400n, due: 0n }]);
    assert.match(statementToCsv(june), /"Carried over from the month before",1,,,,-6400,USD,,\r\n$/);
    assert.match(await given.vendorCsv(end, "2027-06"), /"Carried over from the month before",1,,,,-5760,USD,,\r\n$/);
    assert.match(await given.vendorCsv(end, "2027-05"), /"Outage",-1,9500,,,-9500,USD,,[0-9a-f-]{36}\r\n/);
    const read = (await stream(end, "2027-08")).map(({ type, total, net, carriedOver, due }) => ({
      type,
      total,
      net,
      carriedOver,
      due,
    }));
    const none = { total: undefined, net: undefined, carriedOver: undefined, due: undefined };
    assert.deepEqual(read, [
      { type: "statement", total: 3_100, net: undefined, carriedOver: -200, due: 2_900 },
      { ...none, type: "vendor", net: 2_790 },
      { type: "balance", total: undefined, net: 2_790, carriedOver: -180, due: 2_610 },
      { ...none, type: "end" },
    ]);
    const billed = await Promise.all(["2027-05", "2027-06", "2027-07", "2027-08"].map((month) => stream(end, month)));
    const sum = (type: string, key: string): number =>
      billed.flat().reduce((total, line) => total + (line["type"] === type ? Number(line[key]) : 0), 0);
    assert.deepEqual([sum("statement", "due"), sum("balance", "due")], [4 * 3_100 - 9_500, (4 * 3_100 - 9_500) * 0.9]);
    const listed = await given.vendorMonths(end);
    assert.ok(listed.some(({ balances: [first] }) => first?.carriedOver === -180n && first.due === 2_610n));
    for (const { month, totals, balances } of listed) {
      const alone = await vendorStatement(end, month);
      assert.deepEqual([totals, balances], [alone.totals, alone.balances], month);
    }
  });

  test("the stream has everybody with lines or something carried over once, in order, however its pages are cut", async () => {
    const { query, subscribe, credit, runUntil, stream } = await prepare(3_100);
    const id = await subscribe("2027-01-01T10:00:00.000Z");
    await credit("2027-01-31T10:00:00.000Z", id, 1_000);
    const end = "2027-02-04T00:00:00.000Z";
    await runUntil(end);
    await query(`
      alter table carried_over disable trigger user;
      insert into carried_over (month, party, party_id, currency, amount)
      select '2027-01-01', party, id, currency, -1
      from (select 'organisation' as party, id from organisations union all select 'vendor', id from vendors) parties,
        (values ('EUR'), ('USD')) currencies(currency)`);
    const findNames = async (table: string, name: string): Promise<string[]> =>
      (await query<{ name: string }>(`select ${name} as name from ${table} order by id`)).flatMap((each) => [
        `${each.name} EUR`,
        `${each.name} USD`,
      ]);
    const organisations = await findNames("organisations", "alias");
    const streamed = await stream(end, "2027-01", 1);
    const named = (type: string, name: string): string[] =>
      streamed
        .filter((line) => line["type"] === type)
        .map((line) => `${String(line[name])} ${String(line["currency"])}`);
    assert.deepEqual(named("statement", "orgAlias"), organisations);
    assert.deepEqual(named("balance", "vendor"), await findNames("vendors", "slug"));
    const charged = streamed.filter(({ total, net }) => (total ?? net) !== 0);
    assert.deepEqual(
      charged.map(({ type, total, net, carriedOver, due, lines }) => [
        type,
        total ?? net,
        carriedOver,
        due,
        (lines as unknown[] | undefined)?.length,
      ]),
      [
        ["statement", 2_100, -1, 2_099, 2],
        ["vendor", 1_890, undefined, undefined, undefined],
        ["balance", 1_890, -1, 1_889, undefined],
        ["end", undefined, undefined, undefined, undefined],
      ],
    );
    const carriedOver = -organisations.length / 2;
    const { statements, totals } = streamed.at(-1) ?? {};
    assert.equal(statements, organisations.length);
    assert.deepEqual(totals, [
      { currency: "EUR", total: 0, carriedOver, due: 0 },
      { currency: "USD", total: 2_100, carriedOver, due: 2_099 },
    ]);
    assert.deepEqual(await stream(end, "2027-01"), streamed);
  });
});
