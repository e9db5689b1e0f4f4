import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { buildApp } from "../marketplace-events/events.test-support.ts";
import { findApp, markAbsent, replaceApp, upsertListedApp } from "./app-store.ts";
import { type Workbench, workbench } from "./apps.test-support.ts";
import { ensureApp, type KnownApp } from "./ensure-app.ts";
import { inspectSchema } from "./inspect-schema.ts";
import { secondsUntilRecheck } from "./request-app-fetch.ts";

const now = new Date(Date.UTC(2026, 0, 1));
let nth = 0;
const newSlug = (): string => `app-${(nth += 1)}`;

describe("the stored app of an event", () => {
  const cleanUp = cleanUpAfter();
  let bench: Workbench;
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    bench = await workbench(cleanUp, database.serviceUrl);
  });
  const ensure = (slug: string): Promise<KnownApp> =>
    bench.database.transaction().execute((transaction) => ensureApp(transaction, slug, now));
  const fromCatalog = (slug: string): Promise<void> =>
    replaceApp(
      bench.database,
      { app: buildApp(slug), cdsServicesUrl: null, schema: inspectSchema(null), etag: '"e"' },
      now,
    );
  const columns = (slug: string) =>
    bench.database.selectFrom("apps").selectAll().where("slug", "=", slug).executeTakeFirstOrThrow();

  test("has only the slug until the app is fetched from the marketplace", async () => {
    const slug = newSlug();
    const unknown = { slug, hasFacts: false, isInCatalog: false, fetchedAt: null, etag: null, fhirScopes: null };
    assert.deepEqual(await ensure(slug), unknown);
    await markAbsent(bench.database, slug, now);
    assert.deepEqual(await ensure(slug), { ...unknown, fetchedAt: now });
    await fromCatalog(slug);
    const { fhirScopes } = buildApp(slug);
    const known = { slug, hasFacts: true, isInCatalog: true, fetchedAt: now, etag: '"e"', fhirScopes };
    assert.deepEqual(await ensure(slug), known);
    await markAbsent(bench.database, slug, now);
    assert.deepEqual(await ensure(slug), { ...known, isInCatalog: false, etag: null });
  });

  test("is updated from the list of subscriptions only while the catalog doesn't have the app", async () => {
    const slug = newSlug();
    const listed = (name: string) => upsertListedApp(bench.database, { ...buildApp(slug), name }, now);
    await listed("first");
    const { hasFacts, isInCatalog, fetchedAt } = await ensure(slug);
    assert.deepEqual([hasFacts, isInCatalog, fetchedAt], [true, false, null]);
    const { name, config_secrets } = await columns(slug);
    assert.deepEqual([name, config_secrets], ["first", '[""]'], "without a schema everything counts as secret");
    await fromCatalog(slug);
    await listed("second");
    assert.deepEqual([(await columns(slug)).name, (await columns(slug)).config_secrets], [`The app ${slug}`, null]);
    await markAbsent(bench.database, slug, now);
    await listed("third");
    assert.deepEqual([(await columns(slug)).name, (await columns(slug)).config_secrets], ["third", null]);
  });

  test("doesn't make events wait if the catalog has the app", async () => {
    const slug = newSlug();
    await ensure(slug);
    await fromCatalog(slug);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from apps where slug = $1 for no key update", [slug]);
      assert.equal((await ensure(slug)).isInCatalog, true);
      await client.query("commit");
    });
  });

  test("isn't changed by a fetch between the event's read and its commit", async () => {
    const slug = newSlug();
    let stored: Promise<void> | undefined;
    let isStored = false;
    await ensure(slug);
    await bench.database.transaction().execute(async (transaction) => {
      assert.equal((await ensureApp(transaction, slug, now)).isInCatalog, false);
      stored = (async () => {
        await fromCatalog(slug);
        isStored = true;
      })();
      await eventually("the fetch waits for the event", 30_000, () =>
        withClient(ownerUrl, async (client) => {
          const { rowCount } = await client.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          );
          return rowCount === 1;
        }),
      );
      assert.equal(isStored, false);
      assert.equal((await findApp(transaction, slug))?.isInCatalog, false);
    });
    await stored;
    assert.equal((await ensure(slug)).isInCatalog, true);
  });

  test("is fetched at most once a minute", () => {
    const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);
    const waits = [null, ago(20), ago(59.5), ago(60), ago(-1)].map((fetchedAt) =>
      secondsUntilRecheck({ fetchedAt }, now),
    );
    assert.deepEqual(waits, [0, 40, 1, 0, 60]);
  });

  test("is one row when fifty concurrent events name a new app", async () => {
    const slug = newSlug();
    const all = await Promise.all(Array.from({ length: 50 }, () => ensure(slug)));
    assert.ok(all.every(({ hasFacts }) => !hasFacts));
  });
});
