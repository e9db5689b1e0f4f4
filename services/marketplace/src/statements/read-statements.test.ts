import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { StatementDto, StatementPage, VendorStatementDto, VendorStatementPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { insertBilledSubscriptions } from "@ehr-marketplace/tests/support/billed-subscriptions";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { runAt } from "./statements.test-support.ts";

const now = new Date();
/** The months before this one are closed, as if today were the fourth day or later. */
const fifth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 5));
const runTime = now > fifth ? now : fifth;
const monthOf = (offset: number): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString().slice(0, 7);
const [current, last, future] = [monthOf(0), monthOf(-1), monthOf(1)];

describe("statements", () => {
  const cleanUp = cleanUpAfter();
  let running: MarketplaceWithCallers;
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(running.database.ownerUrl, (client) => client.query<T>(sql, values))).rows;
  before(async () => {
    running = await startMarketplaceWithCallers(cleanUp);
    const { ownerUrl, serviceUrl } = running.database;
    // The fixture's practices are billed as Riverside and Hilltop, whose people can sign in.
    await insertBilledSubscriptions(ownerUrl, 4, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 6, 1)));
    await rows(
      `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, quantity, status, created_at, updated_at, revision, fhir_scopes)
       select mint_uuid(), organisations.id, apps.id, plans.id, 3, 'active', $1, $1, 1, ''
       from organisations, apps join pricing_plans plans on app_id = apps.id
       where alias in ('riverside-clinic', 'hilltop-family-practice') and plans.name = '=Seats'
         and apps.id in (select distinct on (vendor_id) apps.id from apps join pricing_plans on app_id = apps.id where pricing_plans.name = '=Seats' order by vendor_id, slug)`,
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 1)),
    );
    await rows(
      "update organisations set kind = 'SANDBOX', vendor_id = (select id from vendors limit 1) where alias = 'billed-4'",
    );
    await runAt((await connectAsService<DB>(cleanUp, serviceUrl)).database, runTime);
  });
  const get = async <T>(persona: Parameters<typeof running.requestAs>[0], path: string): Promise<T> => {
    const response = await running.requestAs(persona, path);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as T;
  };

  test("an organisation lists its months, the newest first, and reads each", async () => {
    const page = await get<StatementPage>("riverside-member", "/organisations/riverside-clinic/statements");
    assertShape("StatementPage", page);
    assert.deepEqual(
      page.items.slice(0, 2).map(({ month, status }) => [month, status]),
      [
        [current, "open"],
        [last, "closed"],
      ],
    );
    for (const { month, status, totals } of page.items) {
      const statement = await get<StatementDto>(
        "riverside-admin",
        `/organisations/riverside-clinic/statements/${month}`,
      );
      assertShape("StatementDto", statement);
      assert.deepEqual([statement.status, statement.totals], [status, totals]);
      for (const { currency, total } of totals) {
        const ofCurrency = statement.lines.filter((line) => line.currency === currency);
        assert.equal(
          ofCurrency.reduce((sum, { amount }) => sum + Number(amount), 0),
          total,
        );
      }
    }
    assert.ok((page.items[1]?.totals ?? []).length > 0);
    const first = await get<StatementPage>("riverside-member", "/organisations/riverside-clinic/statements?limit=1");
    const second = await get<StatementPage>(
      "riverside-member",
      `/organisations/riverside-clinic/statements?limit=1&after=${first.next}`,
    );
    assert.deepEqual(
      [...first.items.map(({ month }) => month), ...second.items.map(({ month }) => month)],
      [current, last],
    );
  });

  test("an open month costs what its estimates say", async () => {
    const { lines } = await get<StatementDto>(
      "riverside-admin",
      `/organisations/riverside-clinic/statements/${current}`,
    );
    assert.ok(lines.length > 0);
    for (const id of new Set(lines.map(({ subscriptionId }) => subscriptionId))) {
      const { total } = await get<{ total: number }>("riverside-admin", `/subscriptions/${id}/estimate`);
      const charged = lines.filter(({ subscriptionId }) => subscriptionId === id);
      assert.equal(
        charged.reduce((sum, { amount }) => sum + Number(amount), 0),
        total,
      );
    }
  });

  test("months that have no statements are 404", async () => {
    for (const month of [future, "1999-01", "9999-12"]) {
      for (const path of [`/organisations/riverside-clinic/statements/${month}`, `/admin/statements/${month}`]) {
        await assertProblem(await running.requestAs("operator", path), 404, "statement-not-found");
      }
      const response = await running.requestAs("northwind-developer", `/developer/statements/${month}`);
      await assertProblem(response, 404, "statement-not-found");
    }
    const invalid = await running.requestAs("operator", "/admin/statements/2027-13");
    await assertProblem(invalid, 400, "invalid-request");
  });

  test("CSV is asked for by media type or by link, and no cell is calculated", async () => {
    const path = `/organisations/riverside-clinic/statements/${last}`;
    const byLink = await running.requestAs("riverside-admin", `${path}?format=csv`);
    const byType = await running.requestAs("riverside-admin", path, { headers: { accept: "text/csv" } });
    assert.equal(byLink.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
    assert.equal(
      byLink.headers.get("content-disposition"),
      `attachment; filename="statement-riverside-clinic-${last}.csv"`,
    );
    const text = await byLink.text();
    assert.equal(await byType.text(), text);
    const { lines } = await get<StatementDto>("riverside-admin", path);
    const [header, ...records] = text.split("\r\n");
    assert.match(header ?? "", /^month,status,orgAlias,subscriptionId,/);
    assert.equal(records.length, lines.length + 1);
    assert.match(text, /,"'=Seats, seat",3,1000,/);
    assert.doesNotMatch(text, /[,"]=/);
  });

  test("a vendor's statement adds up to what it earns, and names nothing of other vendors", async () => {
    const page = await get<VendorStatementPage>("northwind-developer", "/developer/statements");
    assertShape("VendorStatementPage", page);
    await rows("update vendors set commission_percent = 99, updated_at = $1", now);
    const bySlug = new Map<string, Set<string>>();
    for (const persona of ["northwind-developer", "lumen-developer"] as const) {
      for (const month of [last, current]) {
        const statement = await get<VendorStatementDto>(persona, `/developer/statements/${month}`);
        assertShape("VendorStatementDto", statement);
        assert.ok(statement.totals.length > 0, `${persona} in ${month}`);
        for (const { currency, gross, commission, commissionPercent, net } of statement.totals) {
          const lines = statement.lines.filter((line) => line.currency === currency);
          assert.equal(
            lines.reduce((sum, { amount }) => sum + Number(amount), 0),
            net,
          );
          assert.equal(Number(gross) - Number(commission), net);
          assert.ok(commissionPercent <= 12.5, "the commission is that of the month's start");
        }
        const csv = await running.requestAs(persona, `/developer/statements/${month}?format=csv`);
        const text = await csv.text();
        const amounts = text
          .trimEnd()
          .split("\r\n")
          .slice(1)
          .map((line) => Number(line.split(",").at(-4)));
        assert.equal(
          amounts.reduce((sum, amount) => sum + amount, 0),
          statement.totals.reduce((sum, { net }) => sum + Number(net), 0),
        );
        const slugs = statement.lines.flatMap(({ appSlug }) => (appSlug === null ? [] : [appSlug]));
        for (const [, slug = ""] of text.matchAll(/^[^,]*,[^,]*,"[^"]*",[^,]*,"([^"]*)"/gm)) slugs.push(slug);
        bySlug.set(statement.vendor, new Set([...(bySlug.get(statement.vendor) ?? []), ...slugs]));
      }
    }
    for (const [vendor, slugs] of bySlug) {
      const owned = await rows<{ slug: string }>(
        "select apps.slug from apps join vendors on vendors.id = vendor_id where vendors.slug = $1",
        vendor,
      );
      for (const slug of slugs)
        assert.ok(
          owned.some((app) => app.slug === slug),
          `${slug} is ${vendor}'s`,
        );
    }
  });

  test("the operator's stream has all organisations, all vendors, and an end", async () => {
    const response = await running.requestAs("billing", `/admin/statements/${last}`);
    assert.equal(response.headers.get("content-type"), "application/x-ndjson");
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const line of lines) assertShape("StreamedStatement", line);
    const types = lines.map(({ type }) => type);
    assert.deepEqual([...new Set(types)], ["statement", "vendor", "balance", "end"]);
    assert.equal(types.indexOf("end"), types.length - 1);
    const own = await get<StatementDto>("riverside-admin", `/organisations/riverside-clinic/statements/${last}`);
    assert.deepEqual(
      lines.filter(({ orgAlias }) => orgAlias === "riverside-clinic").flatMap((line) => line["lines"]),
      own.lines,
    );
    const head = await running.requestAs("billing", `/admin/statements/${last}`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
    const open = await running.requestAs("auditor", `/admin/statements/${current}`);
    assert.match(await open.text(), /"type":"end".*"status":"open"/);
  });

  test("a caller reads at most two streams at a time", async () => {
    const path = `/admin/statements/${last}`;
    // A stream that nobody reads keeps its slot only while it is larger than the buffers between.
    await rows(
      `insert into open_lines (month, subscription_id, number, organisation_id, vendor_id, app_id, app_name, currency, description, quantity, unit_amount, amount)
       select month, subscription_id, 100 + nth, organisation_id, vendor_id, app_id, app_name, currency, repeat('x', 1000), '1', '0', 0
       from (select * from open_lines where month = $1 limit 1) line, generate_series(1, 30000) nth`,
      `${current}-01`,
    );
    const large = `/admin/statements/${current}`;
    const streams = [await running.requestAs("billing", large), await running.requestAs("billing", large)];
    const refused = await running.requestAs("billing", path);
    assert.equal(refused.headers.get("retry-after"), "1");
    await assertProblem(refused, 503, "overloaded");
    const other = await running.requestAs("auditor", path);
    assert.equal(other.status, 200);
    await other.text();
    for (const stream of streams) await stream.body?.cancel();
    await eventually("the slots are released", 30_000, async () => {
      const response = await running.requestAs("billing", path);
      await response.text();
      return response.status === 200;
    });
  });

  test("a sandbox organisation is charged nothing", async () => {
    const billed = await rows<{ alias: string }>(
      "select distinct alias from closed_lines join organisations on organisations.id = organisation_id where alias like 'billed-%' order by 1",
    );
    assert.deepEqual(
      billed.map(({ alias }) => alias),
      ["billed-1", "billed-2", "billed-3"],
    );
    for (const month of [last, current]) {
      const { lines } = await get<StatementDto>("operator", `/organisations/billed-4/statements/${month}`);
      assert.deepEqual(lines, []);
    }
  });
});
