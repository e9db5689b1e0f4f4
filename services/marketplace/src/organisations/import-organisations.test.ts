import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, ImportResult, OrganisationDto } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { postImport, sendImport } from "@ehr-marketplace/tests/support/send-import";
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
  const send = (lines: (object | string)[]): Promise<ImportResult[]> => sendImport(url, token, lines);
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
    await put("imported-kept", { displayName: "Kept", timeZone: "Europe/London", secret });
    await put("put-new", { displayName: "New", callbackUrl: "https://new.example/", timeZone: "Asia/Kolkata", secret });
    const results = await send([
      {
        alias: "imported-new",
        displayName: "New",
        callbackUrl: "https://new.example/",
        timeZone: "Asia/Kolkata",
        secret,
      },
      { alias: "imported-changed", displayName: "After", timeZone: "America/New_York" },
      { alias: "imported-kept", displayName: "Kept", secret },
    ]);
    assert.deepEqual(results, [
      { line: 1, alias: "imported-new", status: "created" },
      { line: 2, alias: "imported-changed", status: "updated" },
      { line: 3, alias: "imported-kept", status: "unchanged" },
    ]);
    const withoutTimes = ({ createdAt: _c, updatedAt: _u, alias: _a, ...rest }: OrganisationDto) => rest;
    assert.deepEqual(withoutTimes(await get("imported-new")), withoutTimes(await get("put-new")));
    assert.equal(await secretOf("imported-new"), secret);
    assert.equal(await secretOf("imported-changed"), secret, "a line without a secret keeps it");
    const { displayName, callbackUrl, timeZone } = await get("imported-changed");
    assert.deepEqual([displayName, callbackUrl, timeZone], ["After", null, "America/New_York"]);
    assert.equal((await get("imported-kept")).timeZone, "Europe/London", "a line without a time zone keeps it");
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
    const [result] = await send([line]);
    assert.match(String(result?.secret), /^whsec_/);
    assert.equal(await secretOf("generated"), result?.secret);
    assert.deepEqual(await send([line]), [{ line: 1, alias: "generated", status: "unchanged" }]);
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
    const results = await send([
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
      `{"alias": "long", "displayName": "${"a".repeat(16_384)}"}`,
      "",
      { alias: "zone", displayName: "Zone", timeZone: "Mars/Olympus" },
      { alias: "fine-2", displayName: "Fine", secret, callbackUrl: null, callbackNetworks: null },
    ]);
    const refused = (line: number, alias: string | undefined, code: string, pointer?: string) => [
      line,
      alias,
      "refused",
      code,
      pointer,
    ];
    assert.deepEqual(
      results.map(({ line, alias, status, problem }) =>
        problem === undefined ? [line, alias, status] : [line, alias, status, problem.code, problem.pointer],
      ),
      [
        [1, "fine-1", "created"],
        refused(2, "no name", "invalid-request", "/displayName"),
        refused(3, "private", "callback-not-allowed", "/callbackUrl"),
        refused(4, "networks", "invalid-request", "/callbackNetworks/1"),
        refused(5, "weak", "invalid-request", "/secret"),
        refused(6, "unknown", "invalid-request", "/more"),
        refused(7, undefined, "invalid-request"),
        refused(8, undefined, "invalid-request", ""),
        refused(9, undefined, "invalid-request", "/displayName"),
        refused(10, undefined, "invalid-request", "/displayName"),
        refused(11, undefined, "invalid-request", ""),
        refused(12, undefined, "payload-too-large"),
        refused(14, "zone", "invalid-request", "/timeZone"),
        [15, "fine-2", "created"],
      ],
    );
    assert.equal(results[7]?.problem?.detail, "The line must be an object.");
    const asPut = await assertProblem(
      await put("private", { displayName: "Private", callbackUrl }),
      422,
      "callback-not-allowed",
    );
    const detail = (asPut["detail"] as string).replace("/body", "");
    assert.equal(results[2]?.problem?.detail, detail);
  });

  test("refuses lines with the alias of an earlier line, which is stored", async () => {
    const results = await send([
      { alias: "twice", displayName: "One", secret },
      { alias: "once", displayName: "Once", secret },
      { alias: "twice", displayName: "Two" },
      { alias: "twice" },
    ]);
    const problem = { code: "duplicate-key", detail: "Line 1 has the same alias." };
    assert.deepEqual(results, [
      { line: 1, alias: "twice", status: "created" },
      { line: 2, alias: "once", status: "created" },
      { line: 3, alias: "twice", status: "refused", problem },
      { line: 4, alias: "twice", status: "refused", problem },
    ]);
    assert.equal((await get("twice")).displayName, "One");
    assert.equal((await auditOf("twice")).length, 1);
  });

  const manyLines = (prefix: string, length: number) =>
    Array.from({ length }, (_, index) => ({
      alias: `${prefix}-${index}`,
      displayName: `Practice ${index}`,
      callbackUrl: `https://ehr.example/${index}`,
      secret,
    }));
  const entriesLike = async (pattern: string): Promise<number> => {
    const [row] = await rowsOf<{ entries: number }>(
      "select count(*)::int as entries from audit_entries where on_behalf_of like $1",
      [pattern],
    );
    return row?.entries ?? 0;
  };

  test("takes 1,000 lines, with results in their order; sent again, all are unchanged", async () => {
    const lines = manyLines("many", 1_000);
    for (const status of ["created", "unchanged"]) {
      assert.deepEqual(
        await send(lines),
        lines.map(({ alias }, index) => ({ line: index + 1, alias, status })),
      );
      assert.equal(await entriesLike("many-%"), 1_000);
    }
  });

  test("refuses more lines, and a body over 1 MiB, and stores nothing of them", async () => {
    const tooMany = manyLines("too-many", 1_001);
    const problem = await assertProblem(await postImport(url, token, tooMany), 413, "payload-too-large");
    assert.match(String(problem["detail"]), /more than 1000 lines.*Split/);
    const line = JSON.stringify({ alias: "too-large", displayName: "Large", secret });
    // Both lines end with a newline.
    const padded = (bytes: number): string[] => [line, " ".repeat(bytes - line.length - 2)];
    await assertProblem(await postImport(url, token, padded(1_048_577)), 413, "payload-too-large");
    assert.deepEqual(await entriesLike("too-%"), 0);
    assert.equal((await send(padded(1_048_576)))[0]?.status, "created");
  });

  test("refuses a body that isn't UTF-8, such as an export in Latin-1, and stores nothing of it", async () => {
    const [first, second] = manyLines("latin", 2).map((line) => JSON.stringify(line));
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: new Uint8Array(Buffer.from(`${first}\n${second?.replace("Practice", "Praxis M\u00fcller")}\n`, "latin1")),
    });
    const { detail } = await assertProblem(response, 400, "invalid-request");
    assert.equal(detail, "The body is not valid UTF-8; see line 2.");
    assert.equal(await entriesLike("latin-%"), 0);
  });

  test("identical imports at the same time, in any order of lines, store each line once", async () => {
    const lines = manyLines("raced", 300);
    await send(lines.slice(100, 150));
    const orders = [lines, lines.toReversed(), lines.slice(150).concat(lines.slice(0, 150)), lines.toReversed()];
    const all = (await Promise.all(orders.map(send))).flat();
    const countOf = (status: string): number => all.filter((result) => result.status === status).length;
    assert.deepEqual([countOf("created"), countOf("unchanged")], [250, 950]);
    assert.equal(await entriesLike("raced-%"), 300);
    // Each of these changes all organisations.
    const renamed = orders.map((order, index) => order.map((line) => ({ ...line, displayName: `Renamed ${index}` })));
    const changed = (await Promise.all(renamed.map(send))).flat();
    assert.deepEqual([...new Set(changed.map(({ status }) => status))], ["updated"]);
    assert.equal(await entriesLike("raced-%"), 300 + 4 * 300);
    const names = await rowsOf("select distinct display_name from organisations where alias like 'raced-%'");
    assert.equal(names.length, 1, "the imports were applied one after another");
  });

  test("blank lines need no result, and a body is required", async () => {
    assert.deepEqual(await send(["", "  ", "\r"]), []);
    await assertProblem(await postImport(url, token, []), 400, "invalid-request");
  });

  test("takes no other media type", async () => {
    const response = await marketplace.requestAs("operator", "/admin/organisations/import", { body: {} });
    assert.equal(response.headers.get("accept"), "application/x-ndjson");
    const problem = await assertProblem(response, 415, "unsupported-media-type");
    assert.match(String(problem["detail"]), /accepted: application\/x-ndjson/);
  });
});
