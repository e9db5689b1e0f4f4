import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { EventApp } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/tests/support";
import { findKnownApp, replaceApp } from "./app-store.ts";
import { type Workbench, workbench } from "./apps.test-support.ts";
import { inspectSchema } from "./inspect-schema.ts";
import { rememberApp } from "./remember-app.ts";

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
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

describe("what events say of an app", () => {
  const cleanUp = cleanUpAfter();
  let bench: Workbench;
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    bench = await workbench(cleanUp, database.serviceUrl);
  });
  const remember = (app: EventApp, second: number): Promise<void> =>
    bench.database
      .transaction()
      .execute((transaction) => rememberApp(transaction, bench.queue, app, at(second), new Date()));
  const fromCatalog = (app: EventApp, second: number): Promise<void> =>
    bench.database
      .transaction()
      .execute((transaction) =>
        replaceApp(transaction, { app, schema: inspectSchema({}), etag: '"e"' }, at(second), new Date()),
      );
  const known = async (slug: string) => {
    const found = await findKnownApp(bench.database, slug);
    return found && { name: found.name, asOf: found.asOf, schemaKnown: found.schemaKnown };
  };
  const jobsOf = async (slug: string): Promise<number> =>
    (await bench.jobs()).filter((job) => job.slug === slug).length;
  const etagOf = (slug: string): Promise<string | null> =>
    bench.database
      .selectFrom("apps")
      .select("etag")
      .where("slug", "=", slug)
      .executeTakeFirstOrThrow()
      .then(({ etag }) => etag);

  test("is kept, newest first come or last, and its fetch asked for once", async () => {
    const app = appNow("second");
    await remember(app, 2);
    await remember({ ...app, name: "first" }, 1);
    assert.deepEqual(await known(app.slug), { name: "second", asOf: at(2), schemaKnown: false });
    await remember({ ...app, name: "third" }, 3);
    assert.deepEqual(await known(app.slug), { name: "third", asOf: at(3), schemaKnown: false });
    assert.equal(await jobsOf(app.slug), 1);
  });

  test("is all or nothing with what else the event does", async () => {
    const app = appNow("never");
    await assert.rejects(
      bench.database.transaction().execute(async (transaction) => {
        await rememberApp(transaction, bench.queue, app, at(1), new Date());
        throw new Error("undone");
      }),
      /undone/,
    );
    assert.equal(await known(app.slug), undefined);
    assert.equal(await jobsOf(app.slug), 0);
  });

  test("replaces the catalog's where it is newer, and has the catalog asked again, whole; else it changes nothing", async () => {
    const app = appNow("of the event");
    await remember(app, 1);
    await fromCatalog({ ...app, name: "of the catalog" }, 5);
    await withClient(ownerUrl, (client) => client.query("delete from pgboss.job"));
    await remember({ ...app, name: "late" }, 4);
    await remember({ ...app, name: "of the catalog" }, 9);
    assert.deepEqual(await known(app.slug), { name: "of the catalog", asOf: at(5), schemaKnown: true });
    assert.equal(await etagOf(app.slug), '"e"');
    assert.equal(await jobsOf(app.slug), 0, "nothing is new, nothing is asked");
    await remember({ ...app, name: "newer" }, 10);
    assert.deepEqual(await known(app.slug), { name: "newer", asOf: at(10), schemaKnown: true });
    assert.equal(await etagOf(app.slug), null);
    assert.equal(await jobsOf(app.slug), 1);
  });

  test("isn't undone by an answer of the catalog that was asked for before it: of that only the schema is taken", async () => {
    const app = appNow("first");
    await remember(app, 1);
    await remember({ ...app, name: "second" }, 9);
    await fromCatalog({ ...app, name: "asked before" }, 5);
    assert.deepEqual(await known(app.slug), { name: "second", asOf: at(9), schemaKnown: true });
    assert.equal(await etagOf(app.slug), null);
  });

  test("makes nobody wait who says what is known", async () => {
    const app = appNow("popular");
    await remember(app, 1);
    await fromCatalog(app, 2);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from apps where slug = $1 for no key update", [app.slug]);
      await remember(app, 3);
      await client.query("commit");
    });
  });

  test("fifty at once, of one new app and two versions: the newer is kept, one fetch is asked for", async () => {
    const app = appNow("old");
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => remember({ ...app, name: n === 25 ? "new" : "old" }, n === 25 ? 9 : 1)),
    );
    assert.equal((await known(app.slug))?.name, "new");
    assert.equal(await jobsOf(app.slug), 1);
  });
});
