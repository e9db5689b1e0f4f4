import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { migrationsDirectory as ehrMigrations } from "@ehr-marketplace/ehr/migrate-database";
import { migrationsDirectory as marketplaceMigrations } from "@ehr-marketplace/marketplace/migrate-database";
import { migrate } from "@ehr-marketplace/service-kit/database";
import { type CleanUp, cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";

/** Creates a database with the schema before a migration. */
async function databaseBefore(cleanUp: CleanUp, migration: string, directory: string): Promise<string> {
  const { ownerUrl } = await cloneDatabase(cleanUp);
  await withClient(ownerUrl, (client) => client.query("drop schema public cascade; create schema public"));
  const earlier = await mkdtemp(join(tmpdir(), "earlier-migrations-"));
  cleanUp(() => rm(earlier, { recursive: true }));
  for (const file of await readdir(directory)) {
    if (file < migration) await copyFile(join(directory, file), join(earlier, file));
  }
  await migrate(ownerUrl, earlier);
  return ownerUrl;
}

test("the EHR's migration keeps existing installations, except those known only from an event or with a launch URL that is not https", async (t) => {
  const ownerUrl = await databaseBefore(cleanUpAfter(t), "0007", ehrMigrations);
  await withClient(ownerUrl, async (client) => {
    await client.query(
      "insert into organisations (alias, sealed_secret, created_at, updated_at) values ('clinic', '1.none', now(), now())",
    );
    const facts = "id, name, icon_url, category, extension_points, fhir_scopes, schema_known";
    const values = "gen_random_uuid(), 'An app', 'https://icons.example/a.svg', 'FINANCIAL', '{}', '', true";
    await client.query(
      `insert into apps (slug, smart_launch_url, updated_at, ${facts}) values
         ('known', 'https://a.example/launch', now(), ${values}), ('native', null, now(), ${values}),
         ('plain-http', 'http://a.example/launch', now(), ${values})`,
    );
    await client.query("insert into apps (slug, updated_at) values ('only-event', now())");
    for (const slug of ["known", "native", "plain-http", "only-event"]) {
      const id = randomUUID();
      await client.query(
        "insert into subscriptions (org_alias, id, app_slug, status, as_of) values ('clinic', $1, $2, 'active', now())",
        [id, slug],
      );
      await client.query(
        `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at, sealed_config)
         values (gen_random_uuid(), 'clinic', $2, 'active', $1, now(), now(), '1.c2VhbGVk')`,
        [id, slug],
      );
    }
    await migrate(ownerUrl, ehrMigrations);
    const { rows } = await client.query(
      `select slug, apps.id is not null as "hasFacts", confirmed_at is not null as confirmed, installations.status,
         encrypted_config is not null as configured
       from apps join subscriptions on subscriptions.app_slug = slug join installations on installations.app_slug = slug
       order by slug`,
    );
    assert.deepEqual(rows, [
      { slug: "known", hasFacts: true, confirmed: true, status: "active", configured: true },
      { slug: "native", hasFacts: true, confirmed: true, status: "active", configured: true },
      { slug: "only-event", hasFacts: false, confirmed: false, status: "removed", configured: true },
      { slug: "plain-http", hasFacts: false, confirmed: false, status: "removed", configured: true },
    ]);
  });
});

test("the marketplace's migration to https fails with the apps and vendors to correct, changes nothing, and succeeds after the correction", async (t) => {
  const ownerUrl = await databaseBefore(cleanUpAfter(t), "0009", marketplaceMigrations);
  await withClient(ownerUrl, async (client) => {
    await client.query(
      "insert into vendors (id, slug, name, website_url) values (gen_random_uuid(), 'a-vendor', 'A', 'ftp://a.example')",
    );
    await client.query(
      `insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, screenshots)
       select gen_random_uuid(), 'app-' || nth, id, 'FINANCIAL', 'draft', 'n', 's', 'd', 'https://i.example/x', '1',
         case when nth = 1 then '{http://i.example/1.png}' else '{}' end::text[]
       from vendors, generate_series(1, 2) nth`,
    );
    await assert.rejects(migrate(ownerUrl, marketplaceMigrations), /not https: a-vendor, app-1$/m);
    await client.query("update vendors set website_url = null");
    await client.query("update apps set screenshots = '{https://i.example/1.png}' where slug = 'app-1'");
    await migrate(ownerUrl, marketplaceMigrations);
    await assert.rejects(client.query("update vendors set website_url = 'ftp://a.example'"), /website_url_is_https/);
  });
});

/** Publishes apps of one vendor, each with a listing, in a database from before sandboxes. */
async function publishBeforeSandboxes(ownerUrl: string, slugs: string[]): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    await client.query("insert into vendors (id, slug, name) values (gen_random_uuid(), 'a-vendor', 'A')");
    await client.query(
      `insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, published_at)
       select gen_random_uuid(), given.slug, vendors.id, 'FINANCIAL', 'published', 'n', 's', 'd', 'https://i.example/x', '1', now()
       from vendors, unnest($1::text[]) given (slug)`,
      [slugs],
    );
    await client.query(
      `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, published_at)
       select gen_random_uuid(), id, 0, 'Free', '', 'FREE', 'USD', 0, now() from apps`,
    );
    await client.query("select adopt_apps()");
  });
}

const catalogStatement = `select slug, app_dto::json ->> 'baaSha256' as "baaSha256", json_array_length(pricing_dto::json) as plans
  from app_listings order by slug`;

test("the marketplace's migrations from before sandboxes keep published apps in the catalog, and add the hash of their BAA", async (t) => {
  const ownerUrl = await databaseBefore(cleanUpAfter(t), "0028", marketplaceMigrations);
  await publishBeforeSandboxes(ownerUrl, ["plain-app", "sandbox", "with-baa"]);
  await withClient(ownerUrl, async (client) => {
    const sha256 = "b".repeat(64);
    await client.query("update apps set baa_available = true, baa_document_sha256 = $1 where slug = 'with-baa'", [
      sha256,
    ]);
    const expected = [
      { slug: "plain-app", baaSha256: null, plans: 1 },
      { slug: "sandbox", baaSha256: null, plans: 1 },
      { slug: "with-baa", baaSha256: null, plans: 1 },
    ];
    assert.deepEqual((await client.query(catalogStatement)).rows, expected);
    await migrate(ownerUrl, marketplaceMigrations);
    assert.deepEqual(
      (await client.query(catalogStatement)).rows,
      expected.map((app) => (app.slug === "with-baa" ? { ...app, baaSha256: sha256 } : app)),
    );
    const { rows } = await client.query("select distinct status, sandbox_of, sandbox_revision from apps");
    assert.deepEqual(rows, [{ status: "published", sandbox_of: null, sandbox_revision: null }]);
  });
});

test("the marketplace's migration to sandboxes fails with the reserved slugs, changes nothing, and succeeds after the correction", async (t) => {
  const ownerUrl = await databaseBefore(cleanUpAfter(t), "0028", marketplaceMigrations);
  await publishBeforeSandboxes(ownerUrl, ["plain-app", "sandbox-published"]);
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into listings (app_id, slug, vendor_id, draft, created_at, updated_at)
       select gen_random_uuid(), 'sandbox-draft', id, '{}', now(), now() from vendors`,
    );
    await assert.rejects(
      migrate(ownerUrl, marketplaceMigrations),
      /reserved; change these in apps and listings, then migrate again: sandbox-draft, sandbox-published$/m,
    );
    const { rows } = await client.query("select from schema_migrations where name >= '0028'");
    assert.equal(rows.length, 0);
    for (const table of ["listings", "apps"]) {
      await client.query(
        `update ${table} set slug = replace(slug, 'sandbox-', 'formerly-') where slug like 'sandbox-%'`,
      );
    }
    await migrate(ownerUrl, marketplaceMigrations);
    assert.deepEqual((await client.query(catalogStatement)).rows, [
      { slug: "formerly-published", baaSha256: null, plans: 1 },
      { slug: "plain-app", baaSha256: null, plans: 1 },
    ]);
  });
});

test("notices lead to pages of the web, and existing addresses are asked to confirm: slowly, and each mailbox three times a day", async (t) => {
  const ownerUrl = await databaseBefore(cleanUpAfter(t), "0048", marketplaceMigrations);
  await withClient(ownerUrl, async (client) => {
    const { rows: organisations } = await client.query<{ id: string }>(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
       select gen_random_uuid(), 'Clinic.' || nth, 'Clinic', '1.none', now(), now() from generate_series(1, 30) nth returning id`,
    );
    const [{ id } = assert.fail()] = organisations;
    const subscription = randomUUID();
    await client.query(
      `insert into notices (id, audience, kind, severity, subject, detail, link, key, created_at)
       select gen_random_uuid(), audience, 'app-suspended', 'info', 's', 'd', link, link, now() from (values
         ('organisation:' || $1, '/api/v1/subscriptions/' || $2 || '/connection'), ('operators', '/api/v1/admin/reviews/1')
       ) given (audience, link)`,
      [id, subscription],
    );
    await client.query(
      `insert into notice_settings (audience, email, muted_kinds, updated_at)
       select 'organisation:' || id, 'Office+' || row_number() over () || '@Example.com', '{review-due}'::text[], now() from organisations
       union all values ('operators', 'ops@example.com', '{}'::text[], now()), ('vendor:' || gen_random_uuid(), null, '{}', now())`,
    );
    await migrate(ownerUrl, marketplaceMigrations);
    const { rows: links } = await client.query<{ link: string | null }>("select link from notices order by link");
    assert.deepEqual(
      links.map(({ link }) => link),
      [`/practice/Clinic.1/subscriptions?open=${subscription}`, null],
    );
    const { rows: asked } = await client.query<{ mailbox: string; count: number; mostADay: number }>(
      `select mailbox, sum(count)::int as count, max(count)::int as "mostADay" from (
         select mailbox, floor(extract(epoch from due_at - now()) / 86400) as day, count(*) from notice_mails where due_at > now() group by 1, 2
       ) days group by 1 order by 1`,
    );
    assert.deepEqual(asked, [
      { mailbox: "office@example.com", count: 21, mostADay: 3 },
      { mailbox: "ops@example.com", count: 1, mostADay: 1 },
    ]);
    const { rows: settings } = await client.query("select from notice_settings where confirmed_email is not null");
    assert.equal(settings.length, 0);
  });
});
