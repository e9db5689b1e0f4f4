import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { promisify } from "node:util";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { findBundled } from "@ehr-marketplace/tests/support/service-process";
import { findEncryptedColumns } from "@ehr-marketplace/tests/support/service-role";
import { registrationTokenOwner } from "./clients/stored-client.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { configOwner } from "./installations/stored-config.ts";
import { previousSecretOwner, secretOwner } from "./organisations/organisation.ts";

const newKey = `2:${randomBytes(32).toString("base64")}`;
const both = `${newKey},${developmentEncryptionKeys}`;
const [riverside] = demoOrganisations;
const alias = riverside?.alias ?? "";
const installation = "01890a5d-ac96-774b-bcce-b302099a8057";

const reencrypt = async (databaseUrl: string, keys: string) =>
  promisify(execFile)(process.execPath, [await findBundled("ehr", "reencrypt")], {
    env: { NODE_ENV: "test", DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys },
  });

test("re-encrypts secrets, previous secrets, configurations and registration tokens with the new key, so that the old one can be removed", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "ehr");
  const old = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  await withClient(ownerUrl, async (client) => {
    await client.query(
      "update organisations set encrypted_previous_secret = $2, previous_until = now() + interval '1 day' where alias = $1",
      [alias, old.encrypt("the one before", previousSecretOwner(alias))],
    );
    await client.query("insert into apps (slug, updated_at) values ('an-app', now())");
    await client.query("insert into subscriptions values ($1, $2, 'an-app', 'cancelled', now())", [
      alias,
      installation,
    ]);
    await client.query(
      `insert into installations
         (id, org_alias, app_slug, status, subscription_id, encrypted_config, installed_at, updated_at, removed_at)
       values ($2, $1, 'an-app', 'removed', $2, $3, now(), now(), now())`,
      [alias, installation, old.encrypt('{"key":"value"}', configOwner(installation))],
    );
    await client.query(
      `insert into clients (id, app_slug, method, status, client_id, registration_uri, encrypted_registration_token,
         registered_sha256, version, created_at, updated_at)
       values ($1, 'an-app', 'dcr', 'ready', 'one', 'https://id.example/one', $2, repeat('a', 64), $1, now(), now())`,
      [installation, old.encrypt("a token", registrationTokenOwner(installation))],
    );
  });
  assert.match((await reencrypt(serviceUrl, both)).stdout, /Re-encrypted 4 secrets/);
  assert.match((await reencrypt(serviceUrl, both)).stdout, /Re-encrypted 0 secrets/);

  const encryption = createEncryption(parseEncryptionKeys(newKey));
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<Record<`encrypted_${"secret" | "previous_secret" | "config" | "registration_token"}`, string>>(
      "select * from organisations join installations on org_alias = alias, clients where alias = $1",
      [alias],
    ),
  );
  assert.equal(encryption.decrypt(rows[0]?.encrypted_secret ?? "", secretOwner(alias)), riverside?.secret);
  assert.equal(
    encryption.decrypt(rows[0]?.encrypted_previous_secret ?? "", previousSecretOwner(alias)),
    "the one before",
  );
  assert.equal(encryption.decrypt(rows[0]?.encrypted_config ?? "", configOwner(installation)), '{"key":"value"}');
  const token = rows[0]?.encrypted_registration_token ?? "";
  assert.equal(encryption.decrypt(token, registrationTokenOwner(installation)), "a token");
});

for (const [what, keys, reason] of [
  ["if a key is missing", newKey, "ENCRYPTION_KEYS lacks version 1,"],
  [
    "if the version has another key",
    `1:${randomBytes(32).toString("base64")}`,
    "an encrypted secret can't be decrypted",
  ],
] as const) {
  test(`changes nothing ${what}, and names the row`, async (t) => {
    const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "ehr");
    await assert.rejects(reencrypt(serviceUrl, keys), (error: Error & { stderr: string; code: number }) => {
      assert.equal(error.code, 1);
      const line = `organisations.encrypted_secret of the row ${alias}: ${reason}`;
      assert.ok(error.stderr.includes(line), error.stderr);
      return true;
    });
  });
}

test("every column with encrypted values is one that is decrypted first", async (t) => {
  assert.deepEqual(
    encryptedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
    await findEncryptedColumns(await cloneDatabase(cleanUpAfter(t), "ehr")),
  );
});
