import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import {
  type Callers,
  fetchCallers,
  type ImportResponse,
  postImport,
  type RunningEhr,
  sendImport,
  sendRequest,
  startEhr,
} from "@ehr-marketplace/tests/support";
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
  const send = (lines: (object | string)[]): Promise<ImportResponse> =>
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

  test("creates, changes and leaves organisations as a PUT of each line would", async () => {
    const { results, summary } = await send([
      { alias: "imported", secret: first },
      { alias: "imported", secret: first },
      { alias: "imported", secret: second },
      { alias: "ended", secret: first },
      { alias: "ended", secret: second, overlapSeconds: 0 },
      { alias: "short", secret: "short" },
      { alias: "base64", secret: `whsec_${"!".repeat(20)}` },
    ]);
    assert.deepEqual(
      results.map(({ line, key, status, problem }) => [line, key, status, problem?.pointer]),
      [
        [1, "imported", "created", undefined],
        [2, "imported", "unchanged", undefined],
        [3, "imported", "updated", undefined],
        [4, "ended", "created", undefined],
        [5, "ended", "updated", undefined],
        [6, "short", "refused", "/secret"],
        [7, "base64", "refused", "/secret"],
      ],
    );
    assert.deepEqual(summary, { lines: 7, created: 2, updated: 2, unchanged: 1, refused: 2 });
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
    assert.deepEqual(
      await rowsOf("select singleton_key from pgboss.job where name = 'reconciliations' order by singleton_key"),
      [{ singleton_key: "ended now" }, { singleton_key: "imported now" }],
    );
  });

  test("several batches are imported; sent again, all lines are unchanged and leave nothing", async () => {
    const lines = Array.from({ length: 1_200 }, (_, index) => ({
      alias: `many-${index}`,
      secret: `${first} ${index}`,
    }));
    assert.deepEqual((await send(lines)).summary, {
      lines: 1_200,
      created: 1_200,
      updated: 0,
      unchanged: 0,
      refused: 0,
    });
    const count = () => rowsOf("select count(*)::int as entries from audit_entries where on_behalf_of like 'many-%'");
    assert.deepEqual(await count(), [{ entries: 1_200 }]);
    assert.deepEqual((await send(lines)).summary, {
      lines: 1_200,
      created: 0,
      updated: 0,
      unchanged: 1_200,
      refused: 0,
    });
    assert.deepEqual(await count(), [{ entries: 1_200 }]);
  });

  test("only one import runs at a time, and only NDJSON is accepted", async () => {
    await withClient(ownerUrl, async (client) => {
      await client.query("select pg_advisory_lock(hashtextextended('import of organisations', 0))");
      await assertFailure(await postImport(url, callers.token("operator"), []), 409);
    });
    const json = await sendRequest(url, callers.token("operator"), { body: {} });
    assert.equal(json.headers.get("accept"), "application/x-ndjson");
    await assertFailure(json, 415);
  });
});
