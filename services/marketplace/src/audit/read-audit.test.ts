import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

const many = 1_150;
const id = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("reading an organisation's audit log", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let places: string[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    // Groups of nine have the same time, so that their order depends on their ids; every second one belongs to another organisation.
    places = await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query(
        `insert into audit_entries
         select gen_random_uuid(), '2026-01-01'::timestamptz + n / 9 * interval '1 ms', 'https://id.example', 'someone',
           'operator', alias, 'test.entry', 'test', n::text, 'request', null, json_build_object('of', alias)
         from generate_series(1, $1::int) as n, (values ('riverside-clinic'), ('hilltop-family-practice')) as of (alias)`,
        [many],
      );
      const found = await client.query<{ at: Date; id: string }>(
        "select at, id from audit_entries where on_behalf_of = 'riverside-clinic'",
      );
      const each = found.rows.map((row) => `${row.at.toISOString()} ${row.id}`);
      return each.toSorted().toReversed();
    });
  });
  const read = (
    who: Parameters<MarketplaceWithCallers["requestAs"]>[0],
    query: string,
    alias = "riverside-clinic",
  ): Promise<Response> => marketplace.requestAs(who, `/organisations/${alias}/audit?${query}`);
  const walk = async (query: string, meanwhile = async (): Promise<void> => undefined): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const response = await read("riverside-admin", `${query}${next === "" ? "" : `&after=${next}`}`);
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as AuditPage;
      assertShape("AuditPage", page);
      assert.ok(page.items.every(({ onBehalfOf }) => onBehalfOf === "riverside-clinic"));
      pages.push(page.items.map((entry) => `${entry.at} ${entry.id}`));
      next = page.next;
      await meanwhile();
    }
    return pages;
  };

  for (const [query, size] of [
    ["", 100],
    ["limit=230", 230],
    ["limit=99999", 1_000],
  ] as const) {
    test(`${query === "" ? "without a limit" : query}: pages of ${size}, newest first, with every entry of the organisation once`, async () => {
      const pages = await walk(query);
      assert.deepEqual(pages.flat(), places);
      assert.ok(pages.slice(0, -1).every(({ length }) => length === size));
      assert.ok((pages.at(-1)?.length ?? 0) > 0);
    });
  }

  for (const [what, cursor] of [
    ["no JSON", "e"],
    ["of one part", encodeCursor("2026-01-01T00:00:00.000Z")],
    ["of three parts", encodeCursor("2026-01-01T00:00:00.000Z", id, "x")],
    ["of no time", encodeCursor("soon", id)],
    ["of the year 0", encodeCursor("0000-01-01T00:00:00.000Z", id)],
    ["of a year before that", encodeCursor("-000001-01-01T00:00:00.000Z", id)],
    ["of a year far away", encodeCursor("+275760-09-13T00:00:00.000Z", id)],
    ["of a time as people write it", encodeCursor("1 January 2026", id)],
    ["of no id", encodeCursor("2026-01-01T00:00:00.000Z", "1")],
    ["of an id in another spelling", encodeCursor("2026-01-01T00:00:00.000Z", `urn:uuid:${id}`)],
    ["of a NUL", encodeCursor("2026-01-01T00:00:00.000Z\0", id)],
    ["of SQL", encodeCursor("2026-01-01T00:00:00.000Z", "' or 1=1 --")],
  ] as const) {
    test(`400: a cursor that is ${what}`, async () => {
      const problem = await assertProblem(await read("riverside-admin", `after=${cursor}`), 400, "invalid-request");
      assert.deepEqual((problem["errors"] as { pointer: string }[])[0]?.pointer, "/query/after");
    });
  }

  test("is allowed for the organisation's admins, operators and auditors; otherwise the same 403 whether or not the organisation exists", async () => {
    for (const who of ["riverside-admin", "two-practices", "operator", "auditor"] as const) {
      assert.equal((await read(who, "")).status, 200);
    }
    for (const who of ["riverside-member", "hilltop-admin", "billing", "ehr-service", "northwind-developer"] as const) {
      await assertProblem(await read(who, ""), 403, "forbidden");
    }
    await assertProblem(await read("two-practices", "", "hilltop-family-practice"), 403, "forbidden");
    const details = [];
    for (const alias of ["hilltop-family-practice", "nobody"]) {
      const { detail } = await assertProblem(await read("riverside-admin", "", alias), 403, "forbidden");
      details.push(String(detail).replace(alias, "it"));
    }
    assert.equal(details[0], details[1]);
    await assertProblem(await read(null, ""), 401, "unauthorized");
    assert.deepEqual(await (await read("operator", "", "nobody")).json(), { items: [], next: null });
  });

  test("a cursor of another organisation returns none of its entries", async () => {
    const other = (await (await read("operator", "limit=1", "hilltop-family-practice")).json()) as AuditPage;
    const page = (await (await read("riverside-admin", `after=${other.next}`)).json()) as AuditPage;
    assert.ok(page.items.length > 0);
    assert.ok(page.items.every(({ after }) => JSON.stringify(after) === '{"of":"riverside-clinic"}'));
  });

  test("returns every entry once while entries are added", async () => {
    let renamed = 0;
    const rename = async (): Promise<void> => {
      renamed += 1;
      const body = { displayName: `Riverside ${renamed}` };
      const response = await marketplace.requestAs("operator", "/admin/organisations/riverside-clinic", {
        method: "PUT",
        body,
      });
      assert.equal(response.status, 200);
    };
    assert.deepEqual((await walk("limit=200", rename)).flat(), places);
    const newest = (await walk("limit=1000")).flat();
    assert.deepEqual(newest.slice(renamed), places);
    assert.ok(renamed > 3);
  });
});
