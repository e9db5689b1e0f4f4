import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { inspectSchema } from "../apps/inspect-schema.ts";
import {
  change,
  configInClear,
  configShown,
  dataOf,
  hilltop,
  install,
  type Practice,
  putConfig,
  riverside,
  startPractice,
} from "./installations.test-support.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    language: { type: "string", enum: ["en-US", "es-US"], default: "en-US" },
    apiKey: { type: "string", minLength: 8, writeOnly: true },
    mail: {
      type: "object",
      properties: { host: { type: "string", format: "hostname" }, password: { type: "string", writeOnly: true } },
      required: ["host", "password"],
    },
    pins: { type: "array", items: { type: "string" }, writeOnly: true },
  },
  required: ["language", "apiKey"],
  additionalProperties: false,
};
const full = {
  language: "es-US",
  apiKey: "key-one-secret",
  mail: { host: "mail.example", password: "mail-secret" },
  pins: ["pin-of-ann", "pin-of-bob"],
};

describe("configuring an app", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  before(async () => {
    practice = await startPractice(cleanUp);
  });
  const newApp = (given: unknown = schema): Promise<string> => install(practice.database.ownerUrl, { schema: given });
  const put = (slug: string, body: unknown): Promise<Response> => putConfig(practice, slug, body);

  test("returns null for writeOnly values at every depth", async () => {
    const slug = await newApp();
    const shown = {
      language: "es-US",
      apiKey: null,
      mail: { host: "mail.example", password: null },
      pins: null,
    };
    const returned = await dataOf<InstallationDto>(await put(slug, full));
    assert.deepEqual(returned.config, shown);
    assert.deepEqual(await configShown(practice, slug), shown);
    const list = await dataOf<InstallationDto[]>(await practice.as("riverside-member", "/app-installations"));
    assert.deepEqual(
      list.find(({ appSlug }) => appSlug === slug),
      returned,
    );
    assert.ok(returned.updatedAt > returned.installedAt);
    assert.deepEqual(await configInClear(practice, slug), full);
  });

  test("null keeps the stored secret, also a required one; leaving it out removes it", async () => {
    const slug = await newApp();
    await dataOf(await put(slug, full));
    await dataOf(await put(slug, { ...(await configShown(practice, slug)), language: "en-US" }));
    assert.deepEqual(await configInClear(practice, slug), { ...full, language: "en-US" });
    await dataOf(await put(slug, { language: "en-US", apiKey: null }));
    assert.deepEqual(await configInClear(practice, slug), { language: "en-US", apiKey: full.apiKey });
    assert.match(await assertFailure(await put(slug, { language: "en-US" }), 400), /\/body\/apiKey is required/);
  });

  test("the message names the secrets that are deleted because they were left out, and no others", async () => {
    const slug = await newApp();
    const message = async (body: unknown): Promise<string> => {
      const response = await put(slug, body);
      assert.equal(response.status, 200, await response.clone().text());
      return ((await response.json()) as { message: string }).message;
    };
    assert.equal(await message(full), "The configuration is stored.");
    assert.equal(await message({ ...full, apiKey: null, pins: null }), "The configuration is stored.");
    assert.equal(
      await message({ language: "en-US", apiKey: "key-two-secret" }),
      "The configuration is stored. Secrets that were left out are deleted: /mail/password, /pins.",
    );
    assert.equal(await message({ language: "en-US", apiKey: null, pins: null }), "The configuration is stored.");
  });

  test("null for a secret that isn't stored counts as left out", async () => {
    const slug = await newApp();
    const refusal = await assertFailure(await put(slug, { language: "en-US", apiKey: null }), 400);
    assert.match(refusal, /\/body\/apiKey is required/);
    assert.deepEqual(await configInClear(practice, slug), {});
  });

  test("rejects an invalid configuration and names every invalid key", async () => {
    const slug = await newApp();
    await dataOf(await put(slug, full));
    const wrong = { language: "de", apiKey: "short", mail: { host: "?" }, "od/d~": 1 };
    const message = await assertFailure(await put(slug, wrong), 400);
    for (const part of [
      "/body/language must be one of: en-US, es-US",
      "/body/apiKey must have at least 8 characters",
      "/body/mail/password is required",
      "/body/mail/host must have the format hostname",
      "/body/od~1d~0 is not a known setting of this app",
    ]) {
      assert.ok(message.includes(part), `${part}: ${message}`);
    }
    assert.doesNotMatch(message, /short/, "no value is repeated");
    assert.deepEqual(await configInClear(practice, slug), full, "nothing of it is stored");
  });

  test("doesn't fill in defaults, and accepts unknown keys unless the schema rejects them", async () => {
    const slug = await newApp({ type: "object", properties: { tone: { type: "string", default: "warm" } } });
    await dataOf(await put(slug, {}));
    assert.deepEqual(await configInClear(practice, slug), {});
    await dataOf(await put(slug, { tone: "neutral", anything: { at: ["all"] } }));
    assert.deepEqual(await configShown(practice, slug), { tone: "neutral", anything: { at: ["all"] } });
  });

  test("accepts any object for an app without a schema", async () => {
    const slug = await newApp(null);
    const odd = { "": 1, "a\nb": { "c d": [null, 1.5, "ü 𝄞"] }, toString: "x", nested: { hasOwnProperty: 1 } };
    await dataOf(await put(slug, odd));
    assert.deepEqual(await configShown(practice, slug), odd);
    assert.deepEqual(await configInClear(practice, slug), odd);
  });

  test("rejects anything but a JSON object", async () => {
    const slug = await newApp(null);
    for (const body of [[], "text", 1, null, true]) await assertFailure(await put(slug, body), 400);
    for (const [raw, type, status] of [
      ["", "application/json", 400],
      ["{", "application/json", 400],
      ['{"__proto__":{"a":1}}', "application/json", 400],
      ["{}", "text/plain", 415],
      ["a=1", "application/x-www-form-urlencoded", 415],
    ] as const) {
      const response = await fetch(`${practice.ehr.url}/api/app-installations/${slug}/config`, {
        method: "PUT",
        headers: { authorization: `Bearer ${practice.callers.token("riverside-admin")}`, "content-type": type },
        body: raw,
      });
      await assertFailure(response, status);
    }
    assert.match(await assertFailure(await put(slug, { a: "\0" }), 400), /NUL/);
    const nested = JSON.parse(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`) as unknown;
    assert.match(await assertFailure(await put(slug, nested), 400), /nests deeper than 64 levels/);
    const deepest = JSON.parse(`${'{"a":'.repeat(64)}1${"}".repeat(64)}`) as unknown;
    await dataOf(await put(slug, deepest));
  });

  test("accepts 64 KiB, and no byte more", async () => {
    const slug = await newApp(null);
    const exactly = { text: "x".repeat(65_536 - '{"text":""}'.length) };
    await dataOf(await put(slug, exactly));
    assert.deepEqual(await configInClear(practice, slug), exactly);
    await assertFailure(await put(slug, { text: `${exactly.text}x` }), 413);
  });

  test("returns 503 with Retry-After until the schema is known", async () => {
    const slug = await install(practice.database.ownerUrl);
    const response = await put(slug, {});
    assert.equal(response.headers.get("retry-after"), "5");
    await assertFailure(response, 503);
  });

  test("returns 404 for an app that isn't installed, was removed or is another organisation's", async () => {
    const { ownerUrl } = practice.database;
    const removed = await install(ownerUrl, { schema: null, status: "removed" });
    const theirs = await install(ownerUrl, { schema: null, orgAlias: hilltop });
    for (const slug of ["no-such-app", removed, theirs, "..%2F..", "a b"]) {
      await assertFailure(await put(slug, {}), 404);
      await assertFailure(
        await practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
          headers: { "x-org-alias": riverside },
        }),
        404,
      );
    }
  });

  test("accepts a configuration while the app is paused", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: null, status: "paused" });
    await dataOf(await put(slug, { a: 1 }));
    assert.deepEqual(await configInClear(practice, slug), { a: 1 });
  });

  test("allows operators for a named organisation; refuses members and the EHR's backend", async () => {
    const slug = await newApp(null);
    const path = `/app-installations/${slug}/config`;
    const request = { method: "PUT", body: { by: "operator" }, headers: { "x-org-alias": riverside } };
    await dataOf(await practice.as("operator", path, request));
    assert.deepEqual(await configInClear(practice, slug), { by: "operator" });
    for (const persona of ["riverside-member", "ehr-service", "hilltop-admin", "billing"] as const) {
      await assertFailure(await practice.as(persona, path, request), 403);
    }
    for (const persona of ["riverside-admin", "operator", "riverside-member", "launch-redeemer"] as const) {
      await assertFailure(
        await practice.as(persona, `/internal${path}`, { headers: { "x-org-alias": riverside } }),
        403,
      );
    }
  });

  test("never allows caching of a decrypted configuration", async () => {
    const slug = await newApp(null);
    const response = await practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
      headers: { "x-org-alias": riverside },
    });
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(response.headers.get("etag"), null);
  });

  test("stores one of many concurrent configurations as a whole", async () => {
    const slug = await newApp({ type: "object", properties: { secret: { type: "string", writeOnly: true } } });
    const bodies = Array.from({ length: 10 }, (_, n) => ({ n, secret: `secret ${n}`, list: Array(20).fill(n) }));
    await Promise.all(bodies.map(async (body) => dataOf(await put(slug, body))));
    const stored = (await configInClear(practice, slug)) as { n: number };
    assert.deepEqual(stored, bodies[stored.n]);
  });

  test("null keeps the secret that is stored at the time of the write", async () => {
    const slug = await newApp({ type: "object", properties: { secret: { type: "string", writeOnly: true } } });
    await dataOf(await put(slug, { secret: "old" }));
    await withClient(practice.database.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from installations where app_slug = $1 for update", [slug]);
      const first = put(slug, { by: "first", secret: "new" });
      await lockedWaiters(client, 1);
      const second = put(slug, { by: "second", secret: null });
      await lockedWaiters(client, 2);
      await client.query("commit");
      await Promise.all([dataOf(await first), dataOf(await second)]);
    });
    assert.deepEqual(await configInClear(practice, slug), { by: "second", secret: "new" });
  });

  test("encrypts the stored configuration", async () => {
    const slug = await newApp(null);
    await dataOf(await put(slug, { plainly: "visible-needle", nested: { deeper: ["another-needle"] } }));
    const dump = await withClient(practice.database.ownerUrl, async (client) => {
      const { rows: tables } = await client.query<{ name: string }>(
        "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')",
      );
      let text = "";
      for (const { name } of tables) text += JSON.stringify((await client.query(`select * from ${name}`)).rows);
      return text;
    });
    assert.match(dump, new RegExp(slug), "the dump has something in it");
    assert.doesNotMatch(dump, /needle|plainly|deeper/);
    const encrypted = await withClient(practice.database.ownerUrl, async (client) => {
      const { rows } = await client.query("select encrypted_config from installations where app_slug = $1", [slug]);
      return (rows[0] as { encrypted_config: string }).encrypted_config;
    });
    const other = await newApp(null);
    await change(practice.database.ownerUrl, "update installations set encrypted_config = $1 where app_slug = $2", [
      encrypted,
      other,
    ]);
    const moved = await practice.as("ehr-service", `/internal/app-installations/${other}/config`, {
      headers: { "x-org-alias": riverside },
    });
    await assertFailure(moved, 500);
    await change(practice.database.ownerUrl, "update installations set encrypted_config = null where app_slug = $1", [
      other,
    ]);
  });

  /** Simulates the catalog's next response, and waits until the cache has it. */
  const publish = async (slug: string, next: unknown): Promise<void> => {
    const [{ text, problem, secrets }, name] = [inspectSchema(next), randomUUID()];
    await change(
      practice.database.ownerUrl,
      "update apps set config_schema = $1, schema_problem = $2, config_secrets = $3, name = $4 where slug = $5",
      [text, problem, secrets === null ? null : JSON.stringify(secrets), name, slug],
    );
    await eventually("it is seen", 30_000, async () => {
      const response = await practice.as("riverside-member", `/app-installations/${slug}`);
      return (await dataOf<InstallationDto>(response)).name === name;
    });
  };
  const secret = { type: "string", writeOnly: true };
  const secretKey = { type: "object", properties: { apiKey: secret } };

  test("hides a value as soon as a new schema marks it as secret, and null keeps it", async () => {
    const slug = await newApp({ type: "object" });
    await dataOf(await put(slug, { apiKey: "was-visible" }));
    assert.deepEqual(await configShown(practice, slug), { apiKey: "was-visible" });
    await publish(slug, secretKey);
    assert.deepEqual(await configShown(practice, slug), { apiKey: null });
    await dataOf(await put(slug, { apiKey: null }));
    assert.deepEqual(await configInClear(practice, slug), { apiKey: "was-visible" });
  });

  test("returns 400 for a secret whose name PostgreSQL can't store as text, and stores nothing", async () => {
    const name = "\ud800 half a pair";
    const slug = await newApp({ type: "object", properties: { [name]: { type: "string", writeOnly: true } } });
    const shown = await configShown(practice, slug);
    assert.match(await assertFailure(await put(slug, { [name]: "needle" }), 400), /half of a surrogate pair/);
    assert.deepEqual(await configShown(practice, slug), shown);
  });

  test("hides every value and returns 422 with the reason for a schema outside the profile", async () => {
    const slug = await newApp(secretKey);
    await dataOf(await put(slug, { apiKey: "a-practice's-key", open: 1 }));
    await publish(slug, { type: "object", properties: { apiKey: { $ref: "#/$defs/key" } }, dependencies: {} });
    assert.deepEqual(await configShown(practice, slug), { apiKey: null, open: null });
    const refusal = await assertFailure(await put(slug, { open: 2 }), 422);
    assert.match(refusal, /"\/dependencies": "dependencies" is not supported/);
    assert.match(refusal, /"\/properties\/apiKey\/type": `type` must be one of/);
    assert.deepEqual(await configInClear(practice, slug), { apiKey: "a-practice's-key", open: 1 });

    await publish(slug, secretKey);
    assert.deepEqual(await configShown(practice, slug), { apiKey: null, open: 1 });
  });

  for (const [what, next] of [
    ["renames it", { type: "object", properties: { token: secret } }],
    ["no longer marks it", { type: "object", properties: { apiKey: { type: "string" } } }],
    ["is none", null],
  ] as const) {
    test(`keeps a secret hidden when the next schema ${what}, until it is set again`, async () => {
      const slug = await newApp(secretKey);
      await dataOf(await put(slug, { apiKey: "a-practice's-key", open: 1 }));
      await publish(slug, next);
      assert.deepEqual(await configShown(practice, slug), { apiKey: null, open: 1 });

      const kept = await dataOf<InstallationDto>(await put(slug, { apiKey: null, open: 2 }));
      assert.deepEqual(kept.config, { apiKey: null, open: 2 });
      assert.deepEqual(await configShown(practice, slug), { apiKey: null, open: 2 });
      assert.deepEqual(await configInClear(practice, slug), { apiKey: "a-practice's-key", open: 2 });

      const visible = { apiKey: "for all to see", open: 3 };
      assert.deepEqual((await dataOf<InstallationDto>(await put(slug, visible))).config, visible);
      assert.deepEqual(await configShown(practice, slug), visible);
    });
  }

  test("keeps exactly the secrets hidden that null has kept over several schemas", async () => {
    const slug = await newApp(secretKey);
    await dataOf(await put(slug, { apiKey: "a-practice's-key", open: 1 }));
    for (let version = 1; version <= 5; version += 1) {
      await publish(slug, { type: "object", properties: { [`v${version}`]: secret } });
      await dataOf(await put(slug, { apiKey: null, [`v${version}`]: "secret", open: 1 }));
      assert.deepEqual(await configShown(practice, slug), { apiKey: null, [`v${version}`]: null, open: 1 });
    }
    const { apiKey } = (await configInClear(practice, slug)) as { apiKey: string };
    assert.equal(apiKey, "a-practice's-key");
  });
});

async function lockedWaiters(client: { query(text: string): Promise<{ rowCount: number | null }> }, count: number) {
  await eventually(`${count} wait for the row`, 30_000, async () => {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount === count;
  });
}
