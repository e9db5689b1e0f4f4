import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage } from "@ehr-marketplace/contracts";
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

interface Stored {
  id: string;
  at: string;
  action: string;
  target: string;
}

describe("filters of an organisation's audit log", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  let all: Stored[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    all = await withClient(marketplace.database.ownerUrl, async (client) => {
      // Groups of nine have the same time. Other organisations have the same targets and actions, and most of the rare ones.
      await client.query(
        `insert into audit_entries
         select gen_random_uuid(), '2026-01-01'::timestamptz + n / 9 * interval '1 s', 'https://id.example', 'someone', 'operator',
           case when n % 10 = 0 then 'hilltop-family-practice' else 'riverside-clinic' end,
           case when n % 990 = 1 or n % 10 = 0 then 'rare.action' else 'action.' || n % 3 end,
           'test', case when n % 970 = 2 or n % 10 = 0 then 'rare target' else 'target ' || n % 4 end, 'request', null, null
         from generate_series(1, $1::int) as n`,
        [many],
      );
      await client.query("analyze audit_entries");
      const { rows } = await client.query<Stored>(
        `select id, wire_instant(at) as at, action, target_id as target from audit_entries where on_behalf_of = 'riverside-clinic'`,
      );
      return rows.toSorted((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? 1 : -1));
    });
  });

  const read = (search: string): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/organisations/riverside-clinic/audit?${search}`);
  async function walk(search: string): Promise<string[]> {
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
  }
  const [from, to] = ["2026-01-01T00:05:00.000Z", "2026-01-01T00:15:00.000Z"];

  const filters: [string, (entry: Stored) => boolean][] = [
    ["action=action.1", ({ action }) => action === "action.1"],
    ["action=rare.action", ({ action }) => action === "rare.action"],
    ["targetId=target%202", ({ target }) => target === "target 2"],
    ["targetId=rare%20target", ({ target }) => target === "rare target"],
    ["targetId=target%202&action=action.1", (each) => each.target === "target 2" && each.action === "action.1"],
    [`from=${from}&to=${to}`, ({ at }) => at >= from && at < to],
    [`from=${from}&action=action.1`, ({ at, action }) => at >= from && action === "action.1"],
    [`to=${to}&targetId=target%203`, ({ at, target }) => at < to && target === "target 3"],
    [
      `from=${from}&to=${to}&targetId=target%203&action=action.2`,
      (e) => e.at >= from && e.at < to && e.target === "target 3" && e.action === "action.2",
    ],
    ["targetId=TARGET%202", () => false],
    ["actor=nobody", () => true],
  ];
  for (const [search, holds] of filters) {
    test(`${search}: the matching entries of the organisation, newest first, each once`, async () => {
      assert.deepEqual(
        await walk(search),
        all.filter(holds).map(({ id }) => id),
      );
    });
  }

  for (const search of [
    "from=yesterday",
    "to=2026-02-30",
    "action=%00",
    "targetId=%00",
    `targetId=${"a".repeat(256)}`,
    `action=${"a".repeat(101)}`,
  ]) {
    test(`400: ${search.slice(0, 40)}`, async () => {
      await assertProblem(await read(search), 400, "invalid-request");
    });
  }

  test("each combination reads no more entries than it returns, under a generic plan", async () => {
    const after = { at: "2026-01-01T00:30:00.000Z", id: "ffffffff-ffff-7fff-bfff-ffffffffffff" };
    const onBehalfOf = "riverside-clinic";
    const range = { from: new Date(from), to: new Date(to) };
    for (const filter of [{}, range]) {
      for (const action of [undefined, "rare.action", "action.1"]) {
        for (const targetId of [undefined, "rare target", "target 2"]) {
          for (const slice of [
            { after: undefined, limit: 15 },
            { after, limit: 15 },
          ]) {
            const given = { onBehalfOf, action, targetId, ...filter };
            const rows = await rowsRead(connected, (database) => findEntries(database, given, slice));
            assert.ok(rows <= 20, `${JSON.stringify(given)} reads ${rows} of ${many}`);
          }
        }
      }
    }
  });
});
