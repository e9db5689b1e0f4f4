import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, OrganisationDto } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { secretOwner } from "./organisation.ts";

const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));

describe("registering an organisation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const put = (alias: string, body: unknown): Promise<Response> =>
    marketplace.requestAs("operator", `/admin/organisations/${alias}`, { method: "PUT", body });
  const done = async (status: number, alias: string, body: unknown): Promise<OrganisationDto> => {
    const response = await put(alias, body);
    assert.equal(response.status, status, await response.clone().text());
    const organisation = (await response.json()) as OrganisationDto;
    assertShape("OrganisationDto", organisation);
    return organisation;
  };
  const get = async (alias: string): Promise<unknown> =>
    (await marketplace.requestAs("operator", `/admin/organisations/${alias}`)).json();
  const rowOf = (alias: string): Promise<{ id: string; encrypted_secret: string }> =>
    withClient(marketplace.database.ownerUrl, async (client) => {
      const found = await client.query("select * from organisations where alias = $1", [alias]);
      return found.rows[0] as { id: string; encrypted_secret: string };
    });
  const secretOf = async (alias: string): Promise<string> => {
    const { id, encrypted_secret } = await rowOf(alias);
    return encryption.decrypt(encrypted_secret, secretOwner(id));
  };
  const auditOf = async (alias: string): Promise<AuditPage["items"]> =>
    ((await (await marketplace.requestAs("operator", `/organisations/${alias}/audit`)).json()) as AuditPage).items;

  test("returns 201 with a generated secret, which no later response has", async () => {
    const began = Date.now();
    const { secret, ...organisation } = await done(201, "made", { displayName: "Made" });
    assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.ok(Date.parse(organisation.createdAt) >= began && Date.parse(organisation.createdAt) <= Date.now());
    assert.deepEqual(organisation, {
      alias: "made",
      displayName: "Made",
      callbackUrl: null,
      callbackNetworks: [],
      timeZone: "UTC",
      kind: "LIVE",
      vendorSlug: null,
      createdAt: organisation.createdAt,
      updatedAt: organisation.createdAt,
    });
    assert.equal(await secretOf("made"), secret);
    assert.deepEqual(await get("made"), organisation);
    const nothing = { callbackUrl: null, callbackNetworks: null, secret: null };
    const { secret: other } = await done(201, "made-too", { displayName: "Made", ...nothing });
    assert.notEqual(other, secret);
  });

  test("stores a given secret, and never returns it", async () => {
    const secret = "a shared secret, with ümlauts & 𝒳";
    const organisation = await done(201, "given", { displayName: "Given", secret });
    assert.equal(organisation.secret, undefined);
    assert.equal(await secretOf("given"), secret);
  });

  for (const secret of ["whsec_not base64 at all!", "whsec_c2hvcnQgc2VjcmV0", "whsec_YWJjZGVmZ2hpamtsbW5vcA="]) {
    test(`refuses a secret with the prefix whsec_ that decodes to no key: ${secret}`, async () => {
      const response = await put("undecodable", { displayName: "Undecodable", secret });
      const { errors } = await assertProblem(response, 400, "invalid-request");
      assert.equal((errors as { pointer: string }[])[0]?.pointer, "/body/secret");
    });
  }

  test("a later PUT replaces everything but the secret, unless it has a new secret", async () => {
    const body = { displayName: "Before", callbackUrl: "https://ehr.example/base", callbackNetworks: ["10.0.0.0/8"] };
    const first = await done(201, "changing", { ...body, secret: "the first secret" });
    const encrypted = (await rowOf("changing")).encrypted_secret;
    const second = await done(200, "changing", { displayName: "After" });
    assert.deepEqual(second, {
      alias: "changing",
      displayName: "After",
      callbackUrl: null,
      callbackNetworks: [],
      timeZone: "UTC",
      kind: "LIVE",
      vendorSlug: null,
      createdAt: first.createdAt,
      updatedAt: second.updatedAt,
    });
    assert.ok(second.updatedAt > first.updatedAt);
    assert.equal((await rowOf("changing")).encrypted_secret, encrypted);
    const third = await done(200, "changing", { displayName: "After", secret: "the second secret" });
    assert.equal(third.secret, undefined);
    assert.equal(await secretOf("changing"), "the second secret");
    assert.deepEqual(await get("changing"), third);
  });

  test("sets the time zone, which stays where a PUT has none, and is refused if no such zone exists", async () => {
    const { secret: _, ...first } = await done(201, "zoned", { displayName: "Zoned", timeZone: "America/New_York" });
    assert.equal(first.timeZone, "America/New_York");
    const renamed = await done(200, "zoned", { displayName: "Renamed" });
    assert.deepEqual(renamed, { ...first, displayName: "Renamed", updatedAt: renamed.updatedAt });
    const moved = await done(200, "zoned", { displayName: "Renamed", timeZone: "Asia/Kolkata" });
    assert.equal(moved.timeZone, "Asia/Kolkata");
    assert.deepEqual(await get("zoned"), moved);
    const changes = (await auditOf("zoned")).map(({ after }) => (after as Partial<OrganisationDto>).timeZone);
    assert.deepEqual(changes, ["Asia/Kolkata", "America/New_York", "America/New_York"]);
    for (const timeZone of ["Mars/Olympus", "+05:30", "New York", "../etc/localtime"]) {
      const response = await put("zoned", { displayName: "Renamed", timeZone });
      const { errors } = await assertProblem(response, 400, "invalid-request");
      assert.equal((errors as { pointer: string }[])[0]?.pointer, "/body/timeZone");
    }
  });

  test("a PUT that changes nothing changes neither the times nor the audit log", async () => {
    const body = { displayName: "Same", callbackUrl: "https://ehr.example", callbackNetworks: ["10.1.2.3/8", "::1"] };
    const { secret: _, ...first } = await done(201, "same", body);
    const row = await rowOf("same");
    assert.deepEqual(await done(200, "same", body), first);
    assert.deepEqual(await rowOf("same"), row);
    assert.equal((await auditOf("same")).length, 1);
    await done(200, "same", { ...body, callbackNetworks: ["::1", "10.0.0.0/8"] });
    assert.equal((await auditOf("same")).length, 2);
  });

  test("neither a secret nor its bytes are in the database, nor in any response after the first", async () => {
    const { secret: made } = await done(201, "hushed", { displayName: "Hushed" });
    const given = "correct horse battery staple";
    await done(200, "hushed", { displayName: "Hushed", secret: given });
    await done(201, "hushed-too", { displayName: "Hushed", secret: given });
    const stored = await withClient(marketplace.database.ownerUrl, async (client) => {
      const dumps: unknown[] = [];
      for (const table of ["organisations", "audit_entries", "idempotent_responses", "events"]) {
        dumps.push((await client.query(`select to_json(${table})::text as dump from ${table}`)).rows);
      }
      return JSON.stringify(dumps);
    });
    const shown = await Promise.all(
      ["/admin/organisations/hushed", "/admin/organisations?limit=1000", "/organisations/hushed/audit"].map(
        async (path) => (await marketplace.requestAs("operator", path)).text(),
      ),
    );
    assert.ok(stored.includes("hushed-too"));
    for (const secret of [String(made), given]) {
      for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
        const text = Buffer.from(secret).toString(coding).replace(/=+$/, "");
        assert.ok(!stored.includes(text), `the database holds a secret as ${coding}`);
        assert.ok(!shown.join("").includes(text), `a response shows a secret as ${coding}`);
      }
    }
    assert.doesNotMatch(shown.join(""), /encrypted|"secret"/);
    const [one, two] = [await rowOf("hushed"), await rowOf("hushed-too")];
    assert.notEqual(one.encrypted_secret, two.encrypted_secret);
  });

  test("an encrypted secret can be decrypted in its own row only", async () => {
    await done(201, "left", { displayName: "Left", secret: "the left one's secret" });
    await done(201, "right", { displayName: "Right", secret: "the right one's secret" });
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query(`update organisations set encrypted_secret = other.encrypted_secret from organisations as other
        where organisations.alias in ('left', 'right') and other.alias in ('left', 'right') and other.id <> organisations.id`),
    );
    for (const alias of ["left", "right"]) await assert.rejects(secretOf(alias), /belongs to another row/);
  });

  test("of concurrent requests for the same alias one registers it, and the others change it; all have audit entries", async () => {
    const second = await signToken(marketplace.callers, { sub: "second-operator", roles: ["operator"] });
    const tokens = [marketplace.callers.token("operator"), second];
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sendApiRequest(marketplace.url, "/admin/organisations/contested", tokens[index % 2], {
          method: "PUT",
          body: { displayName: `Number ${index}` },
        }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => b - a),
      [201, ...Array<number>(7).fill(200)],
    );
    const records = await Promise.all(responses.map(async (response) => (await response.json()) as OrganisationDto));
    assert.equal(records.filter(({ secret }) => secret !== undefined).length, 1);
    assert.equal(await secretOf("contested"), records.find(({ secret }) => secret !== undefined)?.secret);
    for (const { createdAt, updatedAt } of records) assert.ok(updatedAt >= createdAt, `${updatedAt} < ${createdAt}`);

    const entries = (await auditOf("contested")).toReversed();
    assert.deepEqual(
      entries.map(({ action }) => action),
      ["organisation.register", ...Array<string>(7).fill("organisation.change")],
    );
    assert.equal(new Set(entries.map(({ requestId }) => requestId)).size, 8);
    assert.equal(new Set(entries.map(({ actor }) => actor.subject)).size, 2);
    const states = entries.map(({ after }) => {
      const { secretChanged: _, ...state } = after as OrganisationDto & { secretChanged: boolean };
      return state;
    });
    assert.deepEqual(
      entries.map((entry) => entry.before),
      [null, ...states.slice(0, -1)],
    );
    assert.deepEqual(await get("contested"), states.at(-1));
  });

  for (const alias of ["a", "A.b_c-D", "0", "a".repeat(64), "riverside..clinic"]) {
    test(`accepts the alias ${alias.slice(0, 20)}`, async () => {
      assert.equal((await done(201, alias, { displayName: "x" })).alias, alias);
    });
  }
  for (const alias of ["-a", ".a", "_a", "a".repeat(65), "a%20b", "%C3%A4", "a%2Fb", "a%0A", "a%00", "%F0%9F%92%8A"]) {
    test(`returns 400 for the alias ${alias.slice(0, 20)}`, async () => {
      await assertProblem(await put(alias, { displayName: "x" }), 400, "invalid-request");
    });
  }

  const invalid: [unknown, string][] = [
    [{}, "/body/displayName"],
    [{ displayName: "" }, "/body/displayName"],
    [{ displayName: " \t\n\u00a0" }, "/body/displayName"],
    [{ displayName: "a".repeat(201) }, "/body/displayName"],
    [{ displayName: "a\0" }, "/body/displayName"],
    [{ displayName: "a\u202eb" }, "/body/displayName"],
    [{ displayName: 1 }, "/body/displayName"],
    [{ displayName: "x", alias: "y" }, "/body/alias"],
    [{ displayName: "x", secret: "fifteen letters" }, "/body/secret"],
    [{ displayName: "x", secret: "s".repeat(257) }, "/body/secret"],
    [{ displayName: "x", callbackNetworks: "10.0.0.0/8" }, "/body/callbackNetworks"],
    [{ displayName: "x", callbackNetworks: Array(21).fill("10.0.0.0/8") }, "/body/callbackNetworks"],
    [[], "/body"],
  ];
  for (const [body, pointer] of invalid) {
    test(`400: ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const problem = await assertProblem(await put("invalid", body), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join(", "));
      assert.equal(await rowOf("invalid"), undefined);
    });
  }

  test("returns 403 for everyone but operators", async () => {
    const options = { method: "PUT", body: { displayName: "Mine" } };
    for (const who of ["riverside-admin", "billing", "ehr-service", "northwind-developer"] as const) {
      for (const alias of ["riverside-clinic", "nobodys"]) {
        await assertProblem(
          await marketplace.requestAs(who, `/admin/organisations/${alias}`, options),
          403,
          "forbidden",
        );
      }
    }
    await assertProblem(
      await marketplace.requestAs(null, "/admin/organisations/nobodys", options),
      401,
      "unauthorized",
    );
    assert.equal(await rowOf("nobodys"), undefined);
  });
});
