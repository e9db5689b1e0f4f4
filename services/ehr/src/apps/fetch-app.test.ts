import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { before, describe, test } from "node:test";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/dev/postgres";
import {
  assertFailure,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  type RunningMarketplace,
  startMarketplace,
} from "@ehr-marketplace/tests/support";
import {
  change,
  configInClear,
  configShown,
  dataOf,
  install,
  type Practice,
  putConfig,
  startPractice,
} from "../installations/installations.test-support.ts";
import { workbench } from "./apps.test-support.ts";
import { refreshApps } from "./refresh-apps.ts";

interface AppRow {
  name: string;
  etag: string | null;
  schema_known: boolean;
  config_schema: string | null;
  schema_problem: string | null;
  config_secrets: string | null;
  fetched_at: Date | null;
}

const appIn = (ownerUrl: string, slug: string): Promise<AppRow> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<AppRow>("select * from apps where slug = $1", [slug]);
    const [row] = rows;
    assert.ok(row);
    return row;
  });

/** A catalog that the test can change, and stop. */
async function startCatalog(cleanUp: CleanUp): Promise<RunningMarketplace & { ownerUrl: string }> {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  return { ...(await startMarketplace(cleanUp, serviceUrl)), ownerUrl };
}

/** The same behind a door that can be shut. */
async function startAbsentable(cleanUp: CleanUp) {
  const { url } = await startCatalog(cleanUp);
  const sockets = new Set<Socket>();
  const open = async (port: number): Promise<Server> => {
    const door = createServer((socket) => {
      const onward = connect(Number(new URL(url).port), "127.0.0.1");
      for (const each of [socket, onward]) sockets.add(each.on("error", () => undefined));
      socket.pipe(onward).pipe(socket);
    }).listen(port, "127.0.0.1");
    await once(door, "listening");
    return door;
  };
  let door = await open(0);
  const { port } = door.address() as AddressInfo;
  const shut = async (): Promise<void> => {
    door.close();
    for (const socket of sockets) socket.destroy();
  };
  cleanUp(shut);
  return {
    url: `http://127.0.0.1:${port}`,
    goAway: shut,
    isBack: async () => {
      door = await open(port);
    },
  };
}

describe("an app is read from the catalog once it is installed", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: Awaited<ReturnType<typeof startCatalog>>;
  let practice: Practice;
  let database: ServiceDatabase;
  let bench: Awaited<ReturnType<typeof workbench>>;
  before(async () => {
    marketplace = await startCatalog(cleanUp);
    practice = await startPractice(cleanUp, { MARKETPLACE_URL: `${marketplace.url}/api/v1` });
    ({ database } = practice);
    bench = await workbench(cleanUp, database.serviceUrl);
  });
  const isFetched = (slug: string): Promise<void> =>
    eventually("it is fetched", 15_000, async () => (await appIn(database.ownerUrl, slug)).schema_known);
  const refetch = async (slug: string): Promise<void> => {
    const earlier = (await appIn(database.ownerUrl, slug)).fetched_at;
    await bench.requestFetch(slug);
    await eventually("it is fetched again", 15_000, async () => {
      const { fetched_at } = await appIn(database.ownerUrl, slug);
      return fetched_at !== null && (earlier === null || fetched_at > earlier);
    });
  };

  test("and can then be configured; before, that is 503", async () => {
    const slug = "northwind-scribe";
    await install(database.ownerUrl, { slug, name: "As the event said" });
    await assertFailure(await putConfig(practice, slug, { language: "en-US" }), 503);
    await bench.requestFetch(slug);
    await isFetched(slug);
    const answered = await dataOf<InstallationDto>(await putConfig(practice, slug, { language: "en-US", apiKey: "k" }));
    assert.deepEqual(answered.config, { language: "en-US", apiKey: null });
    assert.equal(answered.name, "Northwind Scribe", "the catalog has the last word");
    assert.match(await assertFailure(await putConfig(practice, slug, { language: "xx" }), 400), /\/body\/language/);
  });

  test("asked again with its ETag: what has changed in the catalog is taken over, what hasn't is left alone", async () => {
    const slug = "cuffline";
    await install(database.ownerUrl, { slug });
    await refetch(slug);
    const earlier = await appIn(database.ownerUrl, slug);
    assert.ok(earlier.etag);
    await refetch(slug);
    assert.deepEqual({ ...(await appIn(database.ownerUrl, slug)), fetched_at: null }, { ...earlier, fetched_at: null });
    await change(marketplace.ownerUrl, "update apps set name = 'Cuffline anew' where slug = $1", [slug]);
    await eventually("the catalog shows it", 5_000, async () =>
      (await (await marketplace.get(`/apps/${slug}`)).text()).includes("Cuffline anew"),
    );
    await refetch(slug);
    const { name, etag } = await appIn(database.ownerUrl, slug);
    assert.equal(name, "Cuffline anew");
    assert.notEqual(etag, earlier.etag);
  });

  test("a schema outside the profile is refused with the reason when it is fetched, and hides what is stored", async () => {
    const slug = "loose-ends";
    await install(database.ownerUrl, { slug, schema: { type: "object" } });
    await dataOf(await putConfig(practice, slug, { open: 1 }));
    const draft07 = { type: "object", dependencies: { a: { properties: { key: { writeOnly: true } } } } };
    await change(marketplace.ownerUrl, "update apps set config_schema = $2 where slug = $1", [slug, draft07]);
    await eventually("the catalog shows it", 5_000, async () =>
      (await (await marketplace.get(`/apps/${slug}`)).text()).includes("dependencies"),
    );
    await refetch(slug);
    const { config_schema, schema_problem, config_secrets } = await appIn(database.ownerUrl, slug);
    assert.deepEqual([config_schema, config_secrets], [null, '[""]']);
    assert.match(schema_problem ?? "", /"\/dependencies": "dependencies" is not supported/);
    const refusal = await assertFailure(await putConfig(practice, slug, { open: 2 }), 422);
    assert.ok(refusal.includes(schema_problem ?? ""), refusal);
    await eventually("it is hidden", 5_000, async () => (await configShown(practice, slug))["open"] === null);
    assert.deepEqual(await configInClear(practice, slug), { open: 1 });
  });

  test("one that is published no more stays as it was known", async () => {
    const slug = "inbox-heron";
    await install(database.ownerUrl, { slug });
    await refetch(slug);
    const earlier = await appIn(database.ownerUrl, slug);
    await change(marketplace.ownerUrl, "update apps set status = 'withdrawn' where slug = $1", [slug]);
    await eventually(
      "the catalog lacks it",
      5_000,
      async () => (await marketplace.get(`/apps/${slug}`)).status === 404,
    );
    await refetch(slug);
    const { fetched_at: _at, ...after } = await appIn(database.ownerUrl, slug);
    assert.deepEqual({ ...after, fetched_at: null }, { ...earlier, fetched_at: null });
    await dataOf(await putConfig(practice, slug, { tone: "warm" }));
  });

  test("one that the catalog never had stays what the event said, and it is noted when that was asked", async () => {
    const slug = await install(database.ownerUrl, { slug: "nobodys-app", name: "As the event said" });
    await refetch(slug);
    assert.equal((await appIn(database.ownerUrl, slug)).schema_known, false);
    const { name } = await dataOf<InstallationDto>(await practice.as("riverside-member", `/app-installations/${slug}`));
    assert.equal(name, "As the event said");
  });
});

test("hourly every installed app is asked for that wasn't lately, each by one job; what the catalog never had, once a day", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const bench = await workbench(cleanUp, serviceUrl);
  const [due, , removed, unknown, absent, longAbsent] = [
    await install(ownerUrl, { schema: null }),
    await install(ownerUrl, { schema: null }),
    await install(ownerUrl, { schema: null, status: "removed" }),
    await install(ownerUrl),
    await install(ownerUrl),
    await install(ownerUrl),
  ];
  const lately = "update apps set fetched_at = now() - interval '51 minutes' where slug = any($1)";
  await change(ownerUrl, lately, [[due, removed]]);
  assert.equal((await appIn(ownerUrl, unknown)).fetched_at, null);
  await change(ownerUrl, "update apps set fetched_at = now() - interval '23 hours' where slug = $1", [absent]);
  await change(ownerUrl, "update apps set fetched_at = now() - interval '25 hours' where slug = $1", [longAbsent]);
  for (let round = 0; round < 3; round += 1) await refreshApps(bench, () => 0.5);
  const inSeconds = new Map((await bench.jobs()).map((job) => [job.slug, job.inSeconds]));
  assert.deepEqual(Object.fromEntries(inSeconds), { [due]: 900, [unknown]: 0, [longAbsent]: 0 });
  assert.equal((await bench.jobs()).length, 3);
});

describe("a marketplace that is away stops nobody", () => {
  test("what is known serves on, and what isn't is fetched when it is back", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const marketplace = await startAbsentable(cleanUp);
    const practice = await startPractice(cleanUp, { MARKETPLACE_URL: `${marketplace.url}/api/v1` });
    const { ownerUrl, serviceUrl } = practice.database;
    const bench = await workbench(cleanUp, serviceUrl);
    const [known, later] = ["northwind-scribe", "cuffline"] as const;
    await install(ownerUrl, { slug: known });
    await bench.requestFetch(known);
    await eventually("it is known", 15_000, async () => (await appIn(ownerUrl, known)).schema_known);

    await marketplace.goAway();
    await install(ownerUrl, { slug: later });
    for (const slug of [known, later]) await bench.requestFetch(slug);
    await eventually(
      "both were tried",
      15_000,
      async () =>
        (await bench.jobs()).filter(({ slug, retries }) => [known, later].includes(slug as never) && retries > 0)
          .length === 2,
    );
    await dataOf(await putConfig(practice, known, { language: "fr-CA" }));
    assert.deepEqual(await configInClear(practice, known), { language: "fr-CA" });
    await assertFailure(await putConfig(practice, later, {}), 503);
    for (let asked = 0; asked < 20; asked += 1) await bench.requestFetch(later);
    assert.equal((await bench.jobs()).filter(({ slug }) => slug === later).length, 1, "however often it is asked for");

    await marketplace.isBack();
    await change(ownerUrl, "update pgboss.job set start_after = now() where state = 'retry'");
    await eventually("it is known as well", 20_000, async () => (await appIn(ownerUrl, later)).schema_known);
  });
});
