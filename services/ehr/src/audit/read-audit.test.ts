import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditEntry, AuditPage } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { dataOf, type Practice, startPractice } from "../installations/installations.test-support.ts";

const days = 200;
const id = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("reading the EHR's audit log", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let all: AuditEntry[];
  before(async () => {
    practice = await startPractice(cleanUp);
    await withClient(practice.database.ownerUrl, async (client) => {
      for (let day = 0; day < days; day += 9) {
        await client.query("select prepare_audit_partitions(current_date - $1::integer)", [day]);
      }
      // Groups of three have the same time, so that only their ids order them. Some filters match few.
      await client.query(
        `insert into audit_entries
         select gen_random_uuid(), now() - nth / 3 * interval '1 hour 7 minutes', 'https://id.example',
           case when nth % 1000 = 0 then 'rare person' else 'person ' || nth % 3 end, 'operator', 'clinic-' || nth % 7,
           case when nth % 1000 = 1 then 'rare.action' else 'action.' || nth % 4 end, 'test', nth::text, 'request'
         from generate_series(1, $1::integer * 24 * 3) as nth where nth / 3 * 67 < ($1::integer - 2) * 1440`,
        [days],
      );
    });
    all = (await walk("limit=1000")).flat();
    assert.ok(all.length > 10_000, `there are ${all.length}`);
  });
  const read = (search: string, persona: Parameters<Practice["as"]>[0] = "operator"): Promise<Response> =>
    practice.as(persona, `/admin/audit?${search}`);
  const walk = async (search: string): Promise<AuditEntry[][]> => {
    const pages: AuditEntry[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: AuditPage = await dataOf(await read(`${search}${next === "" ? "" : `&after=${next}`}`));
      assertShape("AuditPage", page);
      pages.push(page.items);
      ({ next } = page);
    }
    return pages;
  };

  test("returns every entry once, the newest first, over all days", async () => {
    const { rows } = await withClient(practice.database.ownerUrl, (client) =>
      client.query<{ id: string }>("select id from audit_entries order by at desc, id desc"),
    );
    assert.deepEqual(
      all.map((entry) => entry.id),
      rows.map((row) => row.id),
    );
    const pages = await walk("limit=230&orgAlias=clinic-3");
    assert.ok(pages.slice(0, -1).every(({ length }) => length === 230));
  });

  const filters: [string, (entry: AuditEntry) => boolean][] = [
    ["actor=person%201", ({ actor }) => actor.subject === "person 1"],
    ["actor=rare%20person", ({ actor }) => actor.subject === "rare person"],
    ["action=action.2", ({ action }) => action === "action.2"],
    ["action=rare.action", ({ action }) => action === "rare.action"],
    ["orgAlias=clinic-5", ({ onBehalfOf }) => onBehalfOf === "clinic-5"],
    [
      "orgAlias=clinic-5&action=rare.action",
      (entry) => entry.onBehalfOf === "clinic-5" && entry.action === "rare.action",
    ],
    ["actor=person%201&action=action.3", (entry) => entry.actor.subject === "person 1" && entry.action === "action.3"],
    ["actor=nobody", () => false],
  ];
  for (const [search, isWanted] of filters) {
    test(`${search} returns exactly the matching entries, also within a time range`, async () => {
      const ids = async (more: string): Promise<string[]> =>
        (await walk(`limit=1000&${search}${more}`)).flat().map((entry) => entry.id);
      assert.deepEqual(
        await ids(""),
        all.filter(isWanted).map((entry) => entry.id),
      );
      const [to, from] = [all[300]?.at ?? "", all[6_000]?.at ?? ""];
      const within = all.filter((entry) => isWanted(entry) && entry.at >= from && entry.at < to);
      assert.deepEqual(
        await ids(`&from=${from}&to=${to}`),
        within.map((entry) => entry.id),
      );
    });
  }

  test("only operators and auditors can read the log, and no route writes it", async () => {
    const auditor = await signToken(practice.callers, { roles: ["auditor"] });
    assert.equal((await sendRequest(`${practice.ehr.url}/api/admin/audit`, auditor, {})).status, 200);
    for (const path of ["/api/app-installations", "/api/admin/organisations/riverside-clinic/reconcile"]) {
      const method = path.endsWith("reconcile") ? "POST" : "GET";
      const headers = { "x-org-alias": "riverside-clinic" };
      await assertFailure(await sendRequest(`${practice.ehr.url}${path}`, auditor, { method, headers }), 403);
    }
    const others = ["billing", "riverside-admin", "ehr-service", "launch-redeemer", "northwind-developer"] as const;
    for (const persona of others) await assertFailure(await read("", persona), 403);
    await assertFailure(await read("", null), 401);
    for (const method of ["PUT", "POST", "DELETE"]) {
      await assertFailure(await practice.as("operator", "/admin/audit", { method }), 405);
    }
  });

  for (const [what, search] of [
    ["a cursor that is none", "after=soon"],
    ["a cursor of a time as people write it", `after=${encodeCursor("1 January 2026", id)}`],
    ["a time that is none", "from=yesterday"],
    ["a leap second", "to=2016-12-31T23:59:60Z"],
    ["an actor with NUL", "actor=%00"],
    ["a long action", `action=${"a".repeat(101)}`],
    ["a limit of nothing", "limit=0"],
  ] as const) {
    test(`400: ${what}`, async () => {
      await assertFailure(await read(search), 400);
    });
  }

  test("a cursor of any time returns exactly the older entries", async () => {
    const future = encodeCursor("2999-01-01T00:00:00.000Z", id);
    const newest = await dataOf<AuditPage>(await read(`after=${future}&limit=1`));
    assert.equal(newest.items[0]?.id, all[0]?.id);
    const past = encodeCursor("1999-01-01T00:00:00.000Z", id);
    assert.deepEqual(await dataOf(await read(`after=${past}`)), { items: [], next: null });
  });
});
