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
import { configOwner } from "./installations/installation.ts";
import { previousSecretOwner, secretOwner } from "./organisations/organisation.ts";

const entry = new URL("./reseal.ts", import.meta.url).pathname;
const newKey = `2:${randomBytes(32).toString("base64")}`;
const both = `${newKey},${developmentEncryptionKeys}`;
const [riverside] = demoOrganisations;
const alias = riverside?.alias ?? "";
const installation = "01890a5d-ac96-774b-bcce-b302099a8057";

const reseal = (databaseUrl: string, keys: string) =>
  promisify(execFile)(process.execPath, [entry], {
    env: { NODE_ENV: "test", DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys },
  });

test("a rotated key takes over secrets, the ones before and configurations, and the old key can go", async (t) => {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUpAfter(t), "ehr");
  const old = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
  await withClient(ownerUrl, async (client) => {
    await client.query(
      "update organisations set sealed_previous_secret = $2, previous_until = now() + interval '1 day' where alias = $1",
      [alias, old.close("the one before", previousSecretOwner(alias))],
    );
    await client.query("insert into apps (slug, updated_at) values ('an-app', now())");
    await client.query("insert into subscriptions values ($1, $2, 'an-app', 'cancelled', now())", [
      alias,
      installation,
    ]);
    await client.query(
      `insert into installations
         (id, org_alias, app_slug, status, subscription_id, sealed_config, installed_at, updated_at, removed_at)
       values ($2, $1, 'an-app', 'removed', $2, $3, now(), now(), now())`,
      [alias, installation, old.close('{"key":"value"}', configOwner(installation))],
    );
  });
  assert.match((await reseal(serviceUrl, both)).stdout, /Sealed with version 2: 3 that had another one/);
  assert.match((await reseal(serviceUrl, both)).stdout, /Sealed with version 2: 0 that/);

  const seal = createSeal(parseEncryptionKeys(newKey));
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ sealed_secret: string; sealed_previous_secret: string; sealed_config: string }>(
      "select * from organisations join installations on org_alias = alias where alias = $1",
      [alias],
    ),
  );
  assert.equal(seal.open(rows[0]?.sealed_secret ?? "", secretOwner(alias)), riverside?.secret);
  assert.equal(seal.open(rows[0]?.sealed_previous_secret ?? "", previousSecretOwner(alias)), "the one before");
  assert.equal(seal.open(rows[0]?.sealed_config ?? "", configOwner(installation)), '{"key":"value"}');
});

test("a key that is missing leaves everything as it was, and is named", async (t) => {
  const { serviceUrl } = await cloneDatabase(cleanUpAfter(t), "ehr");
  await assert.rejects(reseal(serviceUrl, newKey), (error: Error & { stderr: string }) => {
    assert.match(error.stderr, /ENCRYPTION_KEYS lacks version 1/);
    return true;
  });
});
