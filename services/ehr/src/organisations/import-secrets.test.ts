import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ImportResult } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { postImport, sendImport } from "@ehr-marketplace/tests/support/send-import";
import { signBody } from "@ehr-marketplace/webhook-signature";

const [first, second] = ["the first secret of an import", "the second secret of an import"];

describe("importing the secrets of organisations", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let callers: Callers;
  let ownerUrl: string;
  let url: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ownerUrl = database.ownerUrl;
    callers = await fetchCallers();
    // With credentials for the marketplace, a changed secret requests a reconciliation.
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...callers.environment,
      MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token",
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
    url = `${ehr.url}/api/admin/organisations/import`;
  });
  const send = (lines: (object | string)[]): Promise<ImportResult[]> =>
    sendImport(url, callers.token("operator"), lines);
  const verifies = async (alias: string, secret: string): Promise<boolean> => {
    const body = JSON.stringify({ event: "nothing.happened", subscription: { orgAlias: alias } });
    const headers = { "content-type": "application/json", "x-marketplace-signature": signBody(body, secret) };
    const response = await fetch(`${ehr.url}/api/internal/marketplace-webhook`, { method: "POST", headers, body });
    return response.status === 200;
  };
  const rowsOf = <Row>(statement: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as Row[]);
  const auditOf = (alias: string) =>
    rowsOf<{ action: string; before: unknown; after: { secretChanged: boolean; previousUntil: string | null } }>(
      "select action, before, after from audit_entries where on_behalf_of = $1 order by at, id",
      [alias],
    );

  /** All jobs, also those that the service has begun: a later change then requests another one. */
  const reconciliationsRequested = () =>
    rowsOf<{ key: string; requests: number }>(
      `select singleton_key as key, count(*)::int as requests from pgboss.job
       where name = 'reconciliations' group by 1 order by 1`,
    );

  test("creates, changes and leaves organisations as a PUT of each line would", async () => {
    const results = await send([
      { alias: "imported", secret: first },
      { alias: "imported", secret: second },
      { alias: "ended", secret: first },
      { alias: "short", secret: "short" },
      { alias: "base64", secret: `whsec_${"!".repeat(20)}` },
    ]);
    assert.deepEqual(
      results.map(({ line, alias, status, problem }) => [line, alias, status, problem?.pointer ?? problem?.code]),
      [
        [1, "imported", "created", undefined],
        [2, "imported", "refused", "duplicate-key"],
        [3, "ended", "created", undefined],
        [4, "short", "refused", "/secret"],
        [5, "base64", "refused", "/secret"],
      ],
    );
    const changed = await send([
      { alias: "imported", secret: second },
      { alias: "ended", secret: second, overlapSeconds: 0 },
    ]);
    assert.deepEqual(
      changed.map(({ status }) => status),
      ["updated", "updated"],
    );
    const requested = await reconciliationsRequested();
    assert.deepEqual(
      requested.map(({ key }) => key),
      ["ended now", "imported now"],
    );
    assert.deepEqual(await send([{ alias: "imported", secret: second }]), [
      { line: 1, alias: "imported", status: "unchanged" },
    ]);
    assert.deepEqual(await reconciliationsRequested(), requested, "nothing has changed that could be reconciled");
    assert.deepEqual([await verifies("imported", first), await verifies("imported", second)], [true, true]);
    assert.deepEqual([await verifies("ended", first), await verifies("ended", second)], [false, true]);
    const entries = await auditOf("imported");
    assert.deepEqual(
      entries.map(({ action, after, ...entry }) => [action, entry.before, after.secretChanged]),
      [
        ["organisation.put-secret", null, true],
        ["organisation.put-secret", { previousUntil: null }, true],
      ],
    );
    const [row] = await rowsOf<{ previous_until: Date }>(
      "select previous_until from organisations where alias = 'imported'",
    );
    assert.equal(entries[1]?.after.previousUntil, row?.previous_until.toISOString());
  });

  const entriesLike = (pattern: string) =>
    rowsOf("select count(*)::int as entries from audit_entries where on_behalf_of like $1", [pattern]);

  test("takes 1,000 lines; sent again, all are unchanged and leave nothing", async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => ({
      alias: `many-${index}`,
      secret: `${first} ${index}`,
    }));
    for (const status of ["created", "unchanged"]) {
      assert.deepEqual(
        await send(lines),
        lines.map(({ alias }, index) => ({ line: index + 1, alias, status })),
      );
      assert.deepEqual(await entriesLike("many-%"), [{ entries: 1_000 }]);
    }
    await assertFailure(await postImport(url, callers.token("operator"), [...lines, ""]), 413);
  });

  test("identical imports at the same time, in any order of lines, store each line once", async () => {
    const lines = Array.from({ length: 300 }, (_, index) => ({ alias: `raced-${index}`, secret: first }));
    await send(lines.slice(100, 150));
    const orders = [lines, lines.toReversed(), lines.slice(150).concat(lines.slice(0, 150))];
    const all = (await Promise.all(orders.map(send))).flat();
    const countOf = (status: string): number => all.filter((result) => result.status === status).length;
    assert.deepEqual([countOf("created"), countOf("unchanged")], [250, 650]);
    assert.deepEqual(await entriesLike("raced-%"), [{ entries: 300 }]);
  });

  test("accepts only NDJSON", async () => {
    const json = await sendRequest(url, callers.token("operator"), { body: {} });
    assert.equal(json.headers.get("accept"), "application/x-ndjson");
    await assertFailure(json, 415);
  });
});
