import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { EventApp } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/tests/support";
import { findApp, noteFetched, replaceApp } from "./app-store.ts";
import { type Workbench, workbench } from "./apps.test-support.ts";
import { inspectSchema } from "./inspect-schema.ts";
import { findUnknownApps, rememberApp, type ToldApp } from "./remember-app.ts";

let nth = 0;
const appNow = (name: string, slug = `app-${(nth += 1)}`): EventApp => ({
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug,
  name,
  iconUrl: "https://icons.example/a.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel", "settings"],
  smartLaunchUrl: null,
  fhirScopes: "launch",
});
const now = new Date(Date.UTC(2026, 0, 1));
const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);

describe("what events say of an app", () => {
  const cleanUp = cleanUpAfter();
  let bench: Workbench;
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    bench = await workbench(cleanUp, database.serviceUrl);
  });
  /** Answers whether the catalog has been read of it. */
  const remember = (app: ToldApp): Promise<boolean> =>
    bench.database.transaction().execute((transaction) => rememberApp(transaction, bench.queue, app, now));
  const fromCatalog = (app: EventApp, at = ago(3_600)): Promise<void> =>
    replaceApp(bench.database, { app, schema: inspectSchema(null), etag: '"e"' }, at);
  const factsOf = async (slug: string) => (await findApp(bench.database, slug))?.facts;
  const jobsOf = async (slug: string): Promise<number[]> =>
    (await bench.jobs()).filter((job) => job.slug === slug).map(({ inSeconds }) => inSeconds);
  const forgetJobs = (): Promise<unknown> => withClient(ownerUrl, (client) => client.query("delete from pgboss.job"));
  const rowOf = (slug: string): Promise<unknown> =>
    bench.database.selectFrom("apps").selectAll().where("slug", "=", slug).executeTakeFirstOrThrow();

  test("is nothing but its slug, and has its fetch asked for once", async () => {
    const app = appNow("first");
    assert.equal(await remember(app), false);
    assert.equal(await remember({ ...app, name: "second" }), false);
    assert.equal(await factsOf(app.slug), null);
    assert.deepEqual(await jobsOf(app.slug), [0]);
    assert.deepEqual(await findUnknownApps(bench.database, [app.slug, "never-heard-of"]), [app.slug, "never-heard-of"]);
  });

  test("is all or nothing with what else the event does", async () => {
    const app = appNow("never");
    await assert.rejects(
      bench.database.transaction().execute(async (transaction) => {
        await rememberApp(transaction, bench.queue, app, now);
        throw new Error("undone");
      }),
      /undone/,
    );
    assert.equal(await factsOf(app.slug), undefined);
    assert.deepEqual(await jobsOf(app.slug), []);
  });

  test("changes nothing of what the catalog says: where it differs, the catalog is asked", async () => {
    const app = appNow("of the catalog");
    await remember(app);
    await fromCatalog(app);
    await forgetJobs();
    const read = await rowOf(app.slug);
    assert.equal(await remember({ ...app, id: app.id.toUpperCase() }), true);
    assert.equal(await remember({ slug: app.slug }), true);
    assert.deepEqual(await jobsOf(app.slug), [], "nothing is new, nothing is asked");
    assert.equal(await remember({ ...app, name: "of an event", smartLaunchUrl: "https://elsewhere.example" }), true);
    assert.deepEqual(await rowOf(app.slug), read);
    assert.deepEqual(await jobsOf(app.slug), [0]);
    assert.deepEqual(await findUnknownApps(bench.database, [app.slug, app.slug]), []);
  });

  test("has the catalog asked once a minute at most, whatever it answered", async () => {
    const [changed, absent] = [appNow("changed"), appNow("absent")];
    for (const app of [changed, absent]) await remember(app);
    await fromCatalog({ ...changed, name: "otherwise" }, ago(20));
    await noteFetched(bench.database, absent.slug, ago(45));
    await forgetJobs();
    for (const app of [changed, absent, changed, absent]) await remember(app);
    assert.deepEqual(await jobsOf(changed.slug), [40]);
    assert.deepEqual(await jobsOf(absent.slug), [15]);
    await noteFetched(bench.database, absent.slug, ago(61));
    await forgetJobs();
    await remember(absent);
    assert.deepEqual(await jobsOf(absent.slug), [0]);
  });

  test("makes nobody wait who says what is known", async () => {
    const app = appNow("popular");
    await remember(app);
    await fromCatalog(app);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from apps where slug = $1 for no key update", [app.slug]);
      assert.equal(await remember(app), true);
      await client.query("commit");
    });
  });

  test("fifty at once, of one new app and two versions: one fetch is asked for", async () => {
    const app = appNow("old");
    await Promise.all(Array.from({ length: 50 }, (_, n) => remember({ ...app, name: n === 25 ? "new" : "old" })));
    assert.equal(await factsOf(app.slug), null);
    assert.deepEqual(await jobsOf(app.slug), [0]);
  });
});
