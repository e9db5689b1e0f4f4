import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { promisify } from "node:util";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/tests/support";
import { secretOwner } from "./organisations/organisation.ts";
import { endpointSecretOwner, nextSecretOwner } from "./webhooks/endpoints/endpoint.ts";

const entry = new URL("./reseal.ts", import.meta.url).pathname;
const newKey = `2:${randomBytes(32).toString("base64")}`;

const reseal = (databaseUrl: string, keys: string) =>
  promisify(execFile)(process.execPath, [entry], {
    env: { NODE_ENV: "test", DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys },
  });

test("a rotated key takes over every secret, and the old one can go", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const both = `${newKey},${developmentEncryptionKeys}`;
  assert.match((await reseal(serviceUrl, both)).stdout, /Sealed with version 2: 2 that had another one/);
  assert.match((await reseal(serviceUrl, both)).stdout, /Sealed with version 2: 0 that/);

  const seal = createSeal(parseEncryptionKeys(newKey));
  const { rows } = await withClient(serviceUrl, (client) =>
    client.query<{ id: string; alias: string; sealed_secret: string }>(
      "select id, alias, sealed_secret from organisations",
    ),
  );
  assert.equal(rows.length, demoOrganisations.length);
  for (const { id, alias, sealed_secret } of rows) {
    const secret = demoOrganisations.find((organisation) => organisation.alias === alias)?.secret;
    assert.equal(seal.open(sealed_secret, secretOwner(id)), secret);
  }
});

test("the secrets of vendors' endpoints are taken over too, the next ones included", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  const old = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into webhook_endpoints
         (id, vendor_id, url, events, sealed_secret, sealed_next_secret, promote_at, created_at, updated_at)
       select $1, id, 'https://vendor.example', '{ping}', $2, $3, now(), now(), now() from vendors limit 1`,
      [id, old.close("the secret", endpointSecretOwner(id)), old.close("the next one", nextSecretOwner(id))],
    ),
  );
  const both = `${newKey},${developmentEncryptionKeys}`;
  assert.match((await reseal(serviceUrl, both)).stdout, /Sealed with version 2: 3 that had another one/);
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ sealed_secret: string; sealed_next_secret: string }>("select * from webhook_endpoints"),
  );
  const seal = createSeal(parseEncryptionKeys(newKey));
  assert.equal(seal.open(rows[0]?.sealed_secret ?? "", endpointSecretOwner(id)), "the secret");
  assert.equal(seal.open(rows[0]?.sealed_next_secret ?? "", nextSecretOwner(id)), "the next one");
});

test("a key that is missing leaves everything as it was, and is named", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "demo");
  await assert.rejects(reseal(serviceUrl, newKey), (error: Error & { stderr: string }) => {
    assert.match(error.stderr, /ENCRYPTION_KEYS lacks version 1/);
    return true;
  });
});
