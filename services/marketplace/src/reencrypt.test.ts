import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { promisify } from "node:util";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { endpointSecretOwner, nextSecretOwner } from "./endpoints/endpoint.ts";
import { secretOwner } from "./organisations/organisation.ts";

const entry = new URL("./reencrypt.ts", import.meta.url).pathname;
const newKey = `2:${randomBytes(32).toString("base64")}`;

const reencrypt = (databaseUrl: string, keys: string) =>
  promisify(execFile)(process.execPath, [entry], {
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

test("changes nothing when a key is missing, and names it", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  await assert.rejects(reencrypt(serviceUrl, newKey), (error: Error & { stderr: string }) => {
    assert.match(error.stderr, /ENCRYPTION_KEYS lacks version 1/);
    return true;
  });
});
