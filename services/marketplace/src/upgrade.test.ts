import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { migrate } from "@ehr-marketplace/service-kit/database";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { migrationsDirectory } from "./migrate-database.ts";

const ids = {
  vendor: "01890a5d-ac96-774b-bcce-b302099a8051",
  app: "01890a5d-ac96-774b-bcce-b302099a8052",
  plan: "01890a5d-ac96-774b-bcce-b302099a8053",
  organisation: "01890a5d-ac96-774b-bcce-b302099a8054",
  subscription: "01890a5d-ac96-774b-bcce-b302099a8055",
  endpoint: "01890a5d-ac96-774b-bcce-b302099a8056",
};

const before = `
  insert into vendors (id, slug, name) values ('${ids.vendor}', 'acme', 'Acme');
  insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, featured, published_at)
    values ('${ids.app}', 'acme-notes', '${ids.vendor}', 'DOCUMENTATION', 'published', 'Notes', '', '', 'https://i.example', '1', true, now());
  update apps set fhir_scopes = 'launch patient/Observation.rs';
  insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, published_at)
    values ('${ids.plan}', '${ids.app}', 0, 'Free', '', 'FREE', 'USD', 0, now());
  update app_listings set popularity = 7;
  insert into organisations (id, alias, display_name, callback_url, sealed_secret, created_at, updated_at)
    values ('${ids.organisation}', 'clinic', 'Clinic', 'https://ehr.example/base//', '1.a', now(), now());
  insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
    values ('${ids.subscription}', '${ids.organisation}', '${ids.app}', '${ids.plan}', 'active', now(), now(), 1);
  insert into webhook_endpoints (id, vendor_id, url, events, sealed_secret, created_at, updated_at)
    values ('${ids.endpoint}', '${ids.vendor}', 'https://acme.example', '{ping}', '1.a', now(), now());
  insert into events (id, event, subscription_id, sequence, occurred_at, payload)
    values (mint_uuid(), 'subscription.created', '${ids.subscription}', 1, now(), '{}');
  insert into events (id, event, occurred_at, payload) values (mint_uuid(), 'ping', now(), '{}');
  insert into deliveries (id, event_id, recipient_id, status, created_at, settled_at)
    select mint_uuid(), id, '${ids.endpoint}', 'delivered', now(), now() from events where event = 'ping';
  insert into replays (id, recipient_id, kind, from_at, to_at, total, cursor_at, cursor_id, created_at, updated_at)
    select mint_uuid(), '${ids.endpoint}', 'range', now() - interval '1 day', now(), 1, created_at, id, now(), now() from deliveries;`;

test("migrates a database in use and keeps its data; earlier statements on the catalog and on events still work", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "empty");
  const directory = await mkdtemp(join(tmpdir(), "marketplace-migrations-"));
  cleanUp(() => rm(directory, { recursive: true }));
  for (const file of (await readdir(migrationsDirectory)).filter((name) => name < "0010")) {
    await cp(join(migrationsDirectory, file), join(directory, file));
  }
  const query = async <T>(url: string, statement: string): Promise<T[]> =>
    withClient(url, async (client) => {
      const results = [await client.query(statement)].flat();
      return (results.at(-1)?.rows ?? []) as T[];
    });
  await query(ownerUrl, "drop schema public cascade; create schema public");
  await migrate(ownerUrl, directory);
  await query(ownerUrl, before);
  const applied = await migrate(ownerUrl, migrationsDirectory);
  assert.ok(applied.length >= 2);

  assert.deepEqual(await query(ownerUrl, "select callback_url from organisations"), [
    { callback_url: "https://ehr.example/base" },
  ]);
  assert.deepEqual(await query(ownerUrl, "select category, featured, popularity from app_popularity"), [
    { category: "DOCUMENTATION", featured: true, popularity: 7 },
  ]);
  assert.deepEqual(await query(ownerUrl, "select event, vendor_id from events order by event"), [
    { event: "ping", vendor_id: ids.vendor },
    { event: "subscription.created", vendor_id: ids.vendor },
  ]);
  const scopes = "launch patient/Observation.rs";
  assert.deepEqual(await query(ownerUrl, "select fhir_scopes, revision from subscriptions"), [
    { fhir_scopes: scopes, revision: 1 },
  ]);
  assert.deepEqual(await query(ownerUrl, "select cursor_id from replays where cursor_at is not null"), [
    { cursor_id: "00000000-0000-0000-0000-000000000000" },
  ]);

  assert.deepEqual(
    await query(
      ownerUrl,
      "select encrypted_secret from organisations union all select encrypted_secret from webhook_endpoints",
    ),
    [{ encrypted_secret: "1.a" }, { encrypted_secret: "1.a" }],
  );

  // Statements of earlier versions.
  assert.equal(
    (await query(serviceUrl, "select app_dto from app_listings order by popularity desc, app_id desc")).length,
    1,
  );
  assert.equal((await query(serviceUrl, "select * from search_listings('notes', null, 20)")).length, 1);
  const inserted = await query(
    serviceUrl,
    `insert into events (id, event, subscription_id, sequence, occurred_at, payload)
     values (gen_random_uuid(), 'subscription.paused', '${ids.subscription}', 2, now(), '{}') returning vendor_id`,
  );
  assert.deepEqual(inserted, [{ vendor_id: ids.vendor }]);
  const cancel = `update subscriptions set status = 'cancelled', cancelled_at = now(), updated_at = now(), revision = 2`;
  await query(serviceUrl, cancel);
  const subscribed = await query(
    serviceUrl,
    `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
     select gen_random_uuid(), organisation_id, app_id, pricing_plan_id, 'active', now(), now(), 1 from subscriptions
     returning fhir_scopes`,
  );
  assert.deepEqual(subscribed, [{ fhir_scopes: scopes }]);
});
