import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { promisify } from "node:util";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { findBundled } from "@ehr-marketplace/tests/support/service-process";
import { findEncryptedColumns } from "@ehr-marketplace/tests/support/service-role";
import { encryptedColumns } from "./encrypted-columns.ts";
import { endpointSecretOwner, nextSecretOwner } from "./endpoints/endpoint.ts";
import { reviewNotesOwner } from "./listings/read-listings.ts";
import { secretOwner } from "./organisations/organisation.ts";

const newKey = `2:${randomBytes(32).toString("base64")}`;

const reencrypt = async (databaseUrl: string, keys: string) =>
  promisify(execFile)(process.execPath, [await findBundled("marketplace", "reencrypt")], {
    env: { NODE_ENV: "test", DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys },
  });

test("re-encrypts every secret with the new key, so that the old key can be removed", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const both = `${newKey},${developmentEncryptionKeys}`;
  assert.match(
    (await reencrypt(serviceUrl, both)).stdout,
    /Re-encrypted 2 secrets[.] All secrets use key version 2 now/,
  );
  assert.match((await reencrypt(serviceUrl, both)).stdout, /Re-encrypted 0 secrets/);

  const encryption = createEncryption(parseEncryptionKeys(newKey));
  const { rows } = await withClient(serviceUrl, (client) =>
    client.query<{ id: string; alias: string; encrypted_secret: string }>(
      "select id, alias, encrypted_secret from organisations",
    ),
  );
  assert.equal(rows.length, demoOrganisations.length);
  for (const { id, alias, encrypted_secret } of rows) {
    const secret = demoOrganisations.find((organisation) => organisation.alias === alias)?.secret;
    assert.equal(encryption.decrypt(encrypted_secret, secretOwner(id)), secret);
  }
});

test("re-encrypts the secrets of vendors' endpoints, including those of a rotation", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const old = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into webhook_endpoints
         (id, vendor_id, url, events, encrypted_secret, encrypted_next_secret, promote_at, created_at, updated_at)
       select $1, id, 'https://vendor.example', '{ping}', $2, $3, now(), now(), now() from vendors limit 1`,
      [id, old.encrypt("the secret", endpointSecretOwner(id)), old.encrypt("the next one", nextSecretOwner(id))],
    ),
  );
  const both = `${newKey},${developmentEncryptionKeys}`;
  assert.match(
    (await reencrypt(serviceUrl, both)).stdout,
    /Re-encrypted 3 secrets[.] All secrets use key version 2 now/,
  );
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ encrypted_secret: string; encrypted_next_secret: string }>("select * from webhook_endpoints"),
  );
  const encryption = createEncryption(parseEncryptionKeys(newKey));
  assert.equal(encryption.decrypt(rows[0]?.encrypted_secret ?? "", endpointSecretOwner(id)), "the secret");
  assert.equal(encryption.decrypt(rows[0]?.encrypted_next_secret ?? "", nextSecretOwner(id)), "the next one");
});

test("re-encrypts the notes for reviewers", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const old = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const id = "01890a5d-ac96-774b-bcce-b302099a8058";
  const insert = `insert into listings (app_id, slug, vendor_id, draft, encrypted_review_notes, created_at, updated_at)
     select $1, $2, id, '{}', $3, now(), now() from vendors limit 1`;
  await withClient(ownerUrl, async (client) => {
    await client.query(insert, [id, "with-notes", old.encrypt("the notes", reviewNotesOwner(id))]);
    await client.query(insert, [randomUUID(), "without-notes", null]);
  });
  assert.match(
    (await reencrypt(serviceUrl, `${newKey},${developmentEncryptionKeys}`)).stdout,
    /Re-encrypted 3 secrets/,
  );
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ encrypted_review_notes: string }>("select * from listings where app_id = $1", [id]),
  );
  const encryption = createEncryption(parseEncryptionKeys(newKey));
  assert.equal(encryption.decrypt(rows[0]?.encrypted_review_notes ?? "", reviewNotesOwner(id)), "the notes");
});

const failureOf = async (databaseUrl: string, keys: string): Promise<string> => {
  const error = await reencrypt(databaseUrl, keys).then(
    () => assert.fail("it succeeded"),
    (thrown: { code: number; stderr: string }) => thrown,
  );
  assert.equal(error.code, 1);
  return error.stderr;
};

const readSecrets = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string; encrypted_secret: string }>(
      "select id, encrypted_secret from organisations order by id",
    );
    return rows;
  });

test("changes nothing if a key is missing, and names its version and the rows that need it", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const before = await readSecrets(serviceUrl);
  const printed = await failureOf(serviceUrl, newKey);
  assert.match(printed, /^2 secrets can't be decrypted with ENCRYPTION_KEYS[.] Nothing was re-encrypted/);
  for (const { id } of before) {
    assert.ok(
      printed.includes(`organisations.encrypted_secret of the row ${id}: ENCRYPTION_KEYS lacks version 1,`),
      printed,
    );
  }
  assert.deepEqual(await readSecrets(serviceUrl), before);
});

test("fails if the current version has another key than the secrets were encrypted with, and names the rows", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const printed = await failureOf(serviceUrl, `1:${randomBytes(32).toString("base64")}`);
  for (const { id } of await readSecrets(serviceUrl)) {
    assert.ok(
      printed.includes(`organisations.encrypted_secret of the row ${id}: an encrypted secret can't be decrypted`),
      printed,
    );
  }
});

test("decrypts every secret before it changes any, also in tables of several pages", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const old = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const ids = Array.from({ length: 250 }, (_, n) => `01890a5d-ac96-774b-bcce-b30209900${String(n).padStart(3, "0")}`);
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
       select id, 'practice-' || id, 'A practice', secret, now(), now() from unnest($1::uuid[], $2::text[]) as row (id, secret)`,
      [ids, ids.map((id, n) => old.encrypt("a secret", secretOwner(n === 225 ? "another" : id)))],
    ),
  );
  const both = `${newKey},${developmentEncryptionKeys}`;
  const printed = await failureOf(serviceUrl, both);
  assert.match(printed, /^1 secret can't be decrypted/);
  assert.ok(printed.includes(`organisations.encrypted_secret of the row ${ids[225]}: `), printed);
  assert.ok((await readSecrets(serviceUrl)).every(({ encrypted_secret }) => encrypted_secret.startsWith("1.")));

  await withClient(ownerUrl, (client) => client.query("delete from organisations where id = $1", [ids[225]]));
  assert.match((await reencrypt(serviceUrl, both)).stdout, /^Re-encrypted 251 secrets[.] /);
});

test("every column with encrypted values is one that is decrypted first", async (t) => {
  assert.deepEqual(
    encryptedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
    await findEncryptedColumns(await cloneDatabase(cleanUpAfter(t), "demo")),
  );
});
