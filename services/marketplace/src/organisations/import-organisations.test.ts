import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, OrganisationDto } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type ImportResponse,
  type MarketplaceWithCallers,
  postImport,
  sendImport,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support";
import { secretOwner } from "./organisation.ts";

const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
const secret = "a secret of an import";
const nameIn = (state: object | null | undefined): unknown => (state as OrganisationDto | null)?.displayName;

describe("importing organisations", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let url: string;
  let token: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    url = `${marketplace.url}/api/v1/admin/organisations/import`;
    token = marketplace.callers.token("operator");
  });
  const send = (lines: (object | string)[], query = ""): Promise<ImportResponse> =>
    sendImport(`${url}${query}`, token, lines);
  const get = async (alias: string): Promise<OrganisationDto> =>
    (await (await marketplace.requestAs("operator", `/admin/organisations/${alias}`)).json()) as OrganisationDto;
  const put = (alias: string, body: object): Promise<Response> =>
    marketplace.requestAs("operator", `/admin/organisations/${alias}`, { method: "PUT", body });
  const auditOf = async (alias: string): Promise<AuditPage["items"]> =>
    ((await (await marketplace.requestAs("operator", `/organisations/${alias}/audit`)).json()) as AuditPage).items;
  const rowsOf = <Row>(statement: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as Row[]);
  const secretOf = async (alias: string): Promise<string> => {
    const [row] = await rowsOf<{ id: string; encrypted_secret: string }>(
      "select id, encrypted_secret from organisations where alias = $1",
      [alias],
    );
    return encryption.decrypt(row?.encrypted_secret ?? "", secretOwner(row?.id ?? ""));
  };

  test("registers, changes and leaves organisations as a PUT of each line would, with the same audit entries", async () => {
    await put("imported-changed", { displayName: "Before", callbackUrl: "https://before.example", secret });
    await put("imported-kept", { displayName: "Kept", secret });
    await put("put-new", { displayName: "New", callbackUrl: "https://new.example/", secret });
    const { results, summary } = await send([
      { alias: "imported-new", displayName: "New", callbackUrl: "https://new.example/", secret },
      { alias: "imported-changed", displayName: "After" },
      { alias: "imported-kept", displayName: "Kept", secret },
    ]);
    assert.deepEqual(results, [
      { line: 1, key: "imported-new", status: "created" },
      { line: 2, key: "imported-changed", status: "updated" },
      { line: 3, key: "imported-kept", status: "unchanged" },
    ]);
    assert.deepEqual(summary, { lines: 3, created: 1, updated: 1, unchanged: 1, refused: 0 });
    const withoutTimes = ({ createdAt: _c, updatedAt: _u, alias: _a, ...rest }: OrganisationDto) => rest;
    assert.deepEqual(withoutTimes(await get("imported-new")), withoutTimes(await get("put-new")));
    assert.equal(await secretOf("imported-new"), secret);
    assert.equal(await secretOf("imported-changed"), secret, "a line without a secret keeps it");
    const { displayName, callbackUrl } = await get("imported-changed");
    assert.deepEqual([displayName, callbackUrl], ["After", null]);
    const [registered, ...none] = await auditOf("imported-new");
    assert.deepEqual(none, []);
    assert.deepEqual(
      [registered?.action, registered?.actor.role, registered?.before],
      ["organisation.register", "operator", null],
    );
    assert.deepEqual(registered?.after, { ...(await get("imported-new")), secretChanged: true });
    const [changed] = await auditOf("imported-changed");
    assert.equal(changed?.action, "organisation.change");
    assert.deepEqual(changed?.after, { ...(await get("imported-changed")), secretChanged: false });
    assert.equal(nameIn(changed?.before), "Before");
    assert.equal((await auditOf("imported-kept")).length, 1, "an unchanged line leaves no entry");
  });

  test("returns a generated secret once, in the result of its line", async () => {
    const line = { alias: "generated", displayName: "Generated" };
    const [result] = (await send([line])).results;
    assert.match(String(result?.secret), /^whsec_/);
    assert.equal(await secretOf("generated"), result?.secret);
    assert.deepEqual((await send([line])).results, [{ line: 1, key: "generated", status: "unchanged" }]);
  });

  test("a changed callback reaches the recipient, as with a PUT", async () => {
    const lines = (callbackUrl: string | null): object[] =>
      ["moved-1", "moved-2"].map((alias) => ({ alias, displayName: "Moved", callbackUrl, secret }));
    const recipients = () =>
      rowsOf<{ status: string; jobs: number }>(
        `select r.status, (select count(*)::int from pgboss.job where id = r.id) as jobs
         from recipients r join organisations o on o.id = r.id where o.alias like 'moved-_' order by o.alias`,
      );
    await send(lines("https://one.example"));
    assert.deepEqual(
      await recipients(),
      Array.from({ length: 2 }, () => ({ status: "active", jobs: 0 })),
    );
    await send(lines("https://two.example"));
    assert.deepEqual(
      await recipients(),
      Array.from({ length: 2 }, () => ({ status: "active", jobs: 1 })),
    );
    await send(lines(null));
    assert.deepEqual(
      (await recipients()).map(({ status }) => status),
      ["held", "held"],
    );
  });

  test("refuses single lines with the reason that a PUT has, and goes on", async () => {
    const callbackUrl = "https://10.0.0.1/";
    const { results, summary } = await send([
      { alias: "fine-1", displayName: "Fine", secret },
      { alias: "no name" },
      { alias: "private", displayName: "Private", callbackUrl },
      { alias: "networks", displayName: "Networks", callbackNetworks: ["10.0.0.0/8", "here"] },
      { alias: "weak", displayName: "Weak", secret: "whsec_AAAA" + "!".repeat(20) },
      { alias: "unknown", displayName: "Unknown", more: 1 },
      "{ not JSON",
      "[1]",
      '{"alias": "nul", "displayName": "a\\u0000b"}',
      '{"alias": "half", "displayName": "a\\ud800b"}',
      `{"alias": "deep", "displayName": ${"[".repeat(65)}${"]".repeat(65)}}`,
      `{"alias": "long", "displayName": "${"a".repeat(65_536)}"}`,
      "",
      { alias: "fine-2", displayName: "Fine", secret, callbackUrl: null, callbackNetworks: null },
    ]);
    const refused = (line: number, key: string | null, code: string, pointer?: string) => [
      line,
      key,
      "refused",
      code,
      pointer,
    ];
    assert.deepEqual(
      results.map(({ line, key, status, problem }) =>
        problem === undefined ? [line, key, status] : [line, key, status, problem.code, problem.pointer],
      ),
      [
        [1, "fine-1", "created"],
        refused(2, "no name", "invalid-request", "/displayName"),
        refused(3, "private", "callback-not-allowed", "/callbackUrl"),
        refused(4, "networks", "invalid-request", "/callbackNetworks/1"),
        refused(5, "weak", "invalid-request", "/secret"),
        refused(6, "unknown", "invalid-request", "/more"),
        refused(7, null, "invalid-request"),
        refused(8, null, "invalid-request", ""),
        refused(9, null, "invalid-request", "/displayName"),
        refused(10, null, "invalid-request", "/displayName"),
        refused(11, null, "invalid-request", ""),
        refused(12, null, "invalid-request"),
        [14, "fine-2", "created"],
      ],
    );
    assert.deepEqual(summary, { lines: 14, created: 2, updated: 0, unchanged: 0, refused: 11 });
    const asPut = await assertProblem(
      await put("private", { displayName: "Private", callbackUrl }),
      422,
      "callback-not-allowed",
    );
    const detail = (asPut["detail"] as string).replace("/body", "");
    assert.equal(results[2]?.problem?.detail, detail);
  });

  test("lines with the same alias count one after another, and the last one stays", async () => {
    const { results } = await send([
      { alias: "twice", displayName: "One", secret },
      { alias: "twice", displayName: "Two" },
      { alias: "once", displayName: "Once", secret },
      { alias: "twice", displayName: "Two" },
      { alias: "twice", displayName: "Three" },
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["created", "updated", "created", "unchanged", "updated"],
    );
    assert.equal((await get("twice")).displayName, "Three");
    assert.deepEqual(
      (await auditOf("twice")).map(({ after }) => nameIn(after)),
      ["Three", "Two", "One"],
    );
  });

  test("fromLine skips lines, which are counted", async () => {
    const lines = ["skipped-1", "skipped-2", "taken-3"].map((alias) => ({ alias, displayName: alias, secret }));
    const { results, summary } = await send(lines, "?fromLine=3");
    assert.deepEqual(results, [{ line: 3, key: "taken-3", status: "created" }]);
    assert.equal(summary.lines, 3);
    assert.equal((await marketplace.requestAs("operator", "/admin/organisations/skipped-1")).status, 404);
    const invalid = await assertProblem(await postImport(`${url}?fromLine=0`, token, lines), 400, "invalid-request");
    assert.match(String(invalid["detail"]), /fromLine/);
  });

  test("several batches are imported and answered in order; sent again, all lines are unchanged", async () => {
    const lines = Array.from({ length: 1_234 }, (_, index) => ({
      alias: `many-${index}`,
      displayName: `Practice ${index}`,
      callbackUrl: `https://ehr.example/${index}`,
      secret,
    }));
    const first = await send(lines);
    assert.deepEqual(
      first.results.map(({ line, key }) => [line, key]),
      lines.map(({ alias }, index) => [index + 1, alias]),
    );
    assert.deepEqual(first.summary, { lines: 1_234, created: 1_234, updated: 0, unchanged: 0, refused: 0 });
    const count = () => rowsOf("select count(*)::int as entries from audit_entries where on_behalf_of like 'many-%'");
    assert.deepEqual(await count(), [{ entries: 1_234 }]);
    assert.deepEqual((await send(lines)).summary, {
      lines: 1_234,
      created: 0,
      updated: 0,
      unchanged: 1_234,
      refused: 0,
    });
    assert.deepEqual(await count(), [{ entries: 1_234 }]);
  });

  test("only one import runs at a time, over all processes", async () => {
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("select pg_advisory_lock(hashtextextended('import of organisations', 0))");
      await assertProblem(await postImport(url, token, [{ alias: "later", displayName: "x" }]), 409, "import-running");
    });
    assert.equal((await send([])).summary.lines, 0);
  });

  test("takes no other media type", async () => {
    const response = await marketplace.requestAs("operator", "/admin/organisations/import", { body: {} });
    assert.equal(response.headers.get("accept"), "application/x-ndjson");
    const problem = await assertProblem(response, 415, "unsupported-media-type");
    assert.match(String(problem["detail"]), /accepted: application\/x-ndjson/);
  });
});
