import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditEntry, AuditPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { rowsRead } from "../rows-read.test-support.ts";
import { findEntries } from "./audit-store.ts";

const many = 20_000;

describe("GET /admin/audit", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  let all: AuditEntry[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    all = await withClient(marketplace.database.ownerUrl, async (client) => {
      // Groups of nine have the same time, so that their order depends on their ids. Every thousandth is a rare one.
      await client.query(
        `insert into audit_entries
         select gen_random_uuid(), '2026-01-01'::timestamptz + n / 9 * interval '1 s', 'https://id.example',
           case when n % 1000 = 0 then 'rare person' else 'person ' || n % 3 end, 'operator',
           'organisation-' || n % 7, case when n % 1000 = 1 then 'rare.action' else 'action.' || n % 4 end,
           'test', n::text, 'request', null, null
         from generate_series(1, $1::int) as n`,
        [many],
      );
      await client.query("analyze audit_entries");
      const { rows } = await client.query<AuditEntry>(
        `select id, wire_instant(at) as at, json_build_object('subject', actor_subject) as actor, action
         from audit_entries`,
      );
      return rows;
    });
    all.sort((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? 1 : -1));
  });

  const read = (search: string): Promise<Response> => marketplace.requestAs("auditor", `/admin/audit?${search}`);
  const walk = async (search: string): Promise<string[]> => {
    const found: string[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const response = await read(`limit=1000&${search}${next === "" ? "" : `&after=${next}`}`);
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as AuditPage;
      assertShape("AuditPage", page);
      found.push(...page.items.map(({ id }) => id));
      next = page.next;
    }
    return found;
  };
  const [from, to] = ["2026-01-01T00:05:00.000Z", "2026-01-01T00:15:00.000Z"];

  const filters: [string, (entry: AuditEntry) => boolean][] = [
    ["actor=person%201", ({ actor }) => actor.subject === "person 1"],
    ["actor=rare%20person", ({ actor }) => actor.subject === "rare person"],
    ["action=action.2", ({ action }) => action === "action.2"],
    ["action=rare.action", ({ action }) => action === "rare.action"],
    [`from=${from}&to=${to}`, ({ at }) => at >= from && at < to],
    [
      `actor=person%201&action=action.2&from=${from}`,
      (e) => `${e.actor.subject} ${e.action}` === "person 1 action.2" && e.at >= from,
    ],
    ["actor=PERSON%201", () => false],
    [`from=${to}&to=${from}`, () => false],
    ["from=0000-01-01T00:00:00Z&to=2026-01-01T00:00:10%2B00:00", ({ at }) => at < "2026-01-01T00:00:10.000Z"],
  ];
  for (const [search, holds] of filters) {
    test(`${search}: returns the matching entries, newest first, each once`, async () => {
      const expected = all.filter(holds).map(({ id }) => id);
      assert.deepEqual(await walk(search), expected);
    });
  }

  test("returns entries of every organisation and vendor without a filter", async () => {
    const response = await read("limit=50");
    const page = (await response.json()) as AuditPage;
    assert.deepEqual(
      page.items.map(({ id }) => id),
      all.slice(0, 50).map(({ id }) => id),
    );
    assert.ok(new Set(page.items.map(({ onBehalfOf }) => onBehalfOf)).size > 1);
  });

  for (const search of ["from=yesterday", "to=2026-02-30", "from=2026-12-31T23:59:60Z", "actor=%00", "after=abc"]) {
    test(`400: ${search}`, async () => {
      await assertProblem(await read(search), 400, "invalid-request");
    });
  }

  test("reads no more entries than it returns, for each filter, under a generic plan", async () => {
    const after = { at: "2026-01-01T00:30:00.000Z", id: "ffffffff-ffff-7fff-bfff-ffffffffffff" };
    for (const filter of [
      {},
      { actor: "rare person" },
      { actor: "person 1" },
      { action: "rare.action" },
      { action: "action.1" },
      { actor: "person 1", action: "rare.action" },
      { actor: "rare person", action: "action.1" },
      { from: new Date(from), to: new Date(to) },
    ]) {
      for (const slice of [
        { after: undefined, limit: 15 },
        { after, limit: 15 },
      ]) {
        const rows = await rowsRead(connected, (database) => findEntries(database, filter, slice));
        assert.ok(rows <= 20, `${JSON.stringify(filter)} reads ${rows} of ${many}`);
      }
    }
  });
});
