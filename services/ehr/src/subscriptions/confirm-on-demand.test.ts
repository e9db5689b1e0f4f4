import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import type { InstallationDto, LaunchDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, promisedMs, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
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
import { eventOf, send, storeApps } from "../marketplace-events/events.test-support.ts";

const began = Date.now() - 3_600_000;
/** Two seconds, plus a margin for a busy machine. */
const withinMs = 5_000;

describe("a newly subscribed app", () => {
  const cleanUp = cleanUpAfter();
  let catalog: Catalog;
  let practice: Practice;
  before(async () => {
    catalog = await startCatalog(cleanUp);
    practice = await startPractice(cleanUp, { MARKETPLACE_URL: catalog.url });
  });
  beforeEach(() => catalog.setMode("open"));

  const subscribe = async (app: string, what: "created" | "paused" = "created"): Promise<void> => {
    const body = eventOf({ what, id: randomUUID(), app, at: began });
    assert.deepEqual(await send(practice.ehr.url, { body }), { status: 200, message: "applied" });
  };
  const get = (path: string): Promise<Response> => practice.as("riverside-member", `/app-installations${path}`);
  const launch = (slug: string): Promise<Response> =>
    practice.as("riverside-member", `/app-installations/${slug}/launch`, { body: {} });
  const readConfig = (slug: string): Promise<Response> =>
    practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
      headers: { "x-org-alias": "riverside-clinic" },
    });
  const requestsFor = (slug: string): number =>
    catalog.requested.filter((path) => path.endsWith(`/apps/${slug}`)).length;
  const listed = async (): Promise<string[]> =>
    (await dataOf<InstallationDto[]>(await get(""))).map(({ appSlug }) => appSlug);

  test("is installed without a further request", async () => {
    await subscribe("lumen-schedule");
    await eventually("it is installed", 15_000, async () => (await listed()).includes("lumen-schedule"));
    assert.equal(requestsFor("lumen-schedule"), 1);
  });

  test("can be configured and launched immediately: the request waits for the catalog", async () => {
    const uses: Record<string, (slug: string) => Promise<unknown>> = {
      "northwind-scribe": async (slug) => {
        const { config } = await dataOf<InstallationDto>(
          await putConfig(practice, slug, { language: "en-US", apiKey: "k" }),
        );
        assert.deepEqual(config, { language: "en-US", apiKey: null }, "by the schema that was fetched this moment");
        assert.match(await assertFailure(await putConfig(practice, slug, { language: "xx" }), 400), /\/body\/language/);
      },
      cuffline: async (slug) => assert.ok((await dataOf<LaunchDto>(await launch(slug))).launchId),
      "refill-robin": async (slug) => assert.deepEqual(await dataOf(await readConfig(slug)), {}),
    };
    for (const [slug, use] of Object.entries(uses)) {
      catalog.setMode("hanging");
      await subscribe(slug);
      await eventually("the catalog is read", 15_000, () => requestsFor(slug) === 1);
      assert.ok(!(await listed()).includes(slug), "it isn't shown before the marketplace has confirmed it");
      const used = use(slug);
      catalog.setMode("open");
      await used;
      assert.equal(requestsFor(slug), 1, "what waits shares the event's request");
    }
  });

  for (const mode of ["hanging", "shut"] as const) {
    test(`isn't installed while the marketplace is ${mode}; reads respond from the database`, async () => {
      const slug = mode === "hanging" ? "inbox-heron" : "lab-lantern";
      catalog.setMode(mode);
      await subscribe(slug);
      await eventually("the catalog is read", 15_000, () => requestsFor(slug) >= 1);
      const earlier = requestsFor(slug);
      for (let round = 0; round < 10; round += 1) {
        assert.equal(await dataOf(await get(`/${slug}/installed`)), false);
        await assertFailure(await get(`/${slug}`), 404);
      }
      if (mode === "hanging") assert.equal(requestsFor(slug), earlier, "reads cause no request");
      catalog.setMode("open");
      await eventually("it is installed", 30_000, async () => dataOf<boolean>(await get(`/${slug}/installed`)));
    });
  }

  test("is 503 for a launch and a configuration within about two seconds while the marketplace hangs, and installed afterwards", async () => {
    const slug = "quiet-room";
    catalog.setMode("hanging");
    await subscribe(slug);
    const requests = [launch(slug), putConfig(practice, slug, {}), readConfig(slug)];
    const start = performance.now();
    for (const response of await Promise.all(requests)) {
      assert.match(await assertFailure(response, 503), /marketplace can't be reached/);
      assert.ok(Number(response.headers.get("retry-after")) > 0);
    }
    assert.ok(performance.now() - start < promisedMs(withinMs), `${performance.now() - start} ms`);
    assert.ok(!(await listed()).includes(slug));
    assert.equal(requestsFor(slug), 1, "all share one request");
    catalog.setMode("open");
    await eventually("the marketplace's late response serves", 15_000, async () =>
      dataOf<boolean>(await get(`/${slug}/installed`)),
    );
  });

  test("is 503 while the marketplace can't be reached, without a new attempt at every request", async () => {
    const slug = "cafe-intake";
    catalog.setMode("shut");
    await subscribe(slug);
    await eventually("the failure is known", 15_000, async () => (await launch(slug)).status === 503);
    const earlier = requestsFor(slug);
    for (let round = 0; round < 30; round += 1) await assertFailure(await launch(slug), 503);
    assert.ok(requestsFor(slug) - earlier <= 3, `${requestsFor(slug) - earlier} requests for 30 launches`);
  });

  test("is quarantined if the catalog doesn't have it: it isn't shown, and a gauge counts it", async () => {
    const slug = "invented-by-somebody";
    await subscribe(slug);
    const isQuarantined = async (): Promise<void> => {
      assert.equal(await dataOf(await get(`/${slug}/installed`)), false);
      for (const response of [
        await get(`/${slug}`),
        await launch(slug),
        await putConfig(practice, slug, {}),
        await readConfig(slug),
      ])
        await assertFailure(response, 404);
      await assertFailure(await practice.as("riverside-admin", `/app-installations/${slug}/launches`), 404);
      assert.ok(!(await listed()).includes(slug));
    };
    await isQuarantined();
    await eventually("it is counted", 15_000, async () => {
      const metrics = await (await fetch(`${practice.ehr.url}/metrics`)).text();
      return /^subscriptions_quarantined{[^}]*} 1$/m.test(metrics);
    });
    for (let round = 0; round < 10; round += 1) await isQuarantined();
    assert.equal(requestsFor(slug), 1, "the catalog is read once a minute at most");
    await subscribe(slug, "paused");
    await isQuarantined();
    assert.equal(requestsFor(slug), 1, "however many events name it");
    await change(practice.database.ownerUrl, "update apps set fetched_at = now() - interval '1 hour' where slug = $1", [
      slug,
    ]);
    catalog.setMode("shut");
    await isQuarantined();
  });

  test("that was quarantined is installed by the next event that arrives a minute later, if the catalog has it then", async () => {
    const slug = "fax-warbler";
    await change(
      practice.database.ownerUrl,
      "insert into apps (slug, catalog_absent_at, fetched_at, updated_at) values ($1, now(), now() - interval '1 minute', now())",
      [slug],
    );
    await subscribe(slug);
    await eventually("it is installed", 15_000, async () => dataOf<boolean>(await get(`/${slug}/installed`)));
    assert.equal(requestsFor(slug), 1);
  });

  test("is found if another process confirms it between two reads", async () => {
    const slug = "care-compass";
    await storeApps(practice.database.ownerUrl, [slug]);
    for (let round = 0; round < 20; round += 1) {
      // As right after an event: this process has cached the app as unconfirmed.
      await change(practice.database.ownerUrl, "delete from installations where app_slug = $1", [slug]);
      await change(practice.database.ownerUrl, "delete from subscriptions where app_slug = $1", [slug]);
      const id = randomUUID();
      await change(
        practice.database.ownerUrl,
        "insert into subscriptions values ('riverside-clinic', $1, $2, 'active', now(), null)",
        [id, slug],
      );
      const responses = await Promise.all([launch(slug), putConfig(practice, slug, {}), readConfig(slug)]);
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200, 200],
      );
    }
  });

  test("causes no request to the marketplace without a subscription", async () => {
    for (const slug of ["pocket-phrasebook", "no-such-app"]) {
      assert.equal(await dataOf(await get(`/${slug}/installed`)), false);
      for (const response of [
        await get(`/${slug}`),
        await launch(slug),
        await putConfig(practice, slug, {}),
        await readConfig(slug),
      ])
        await assertFailure(response, 404);
      assert.equal(requestsFor(slug), 0);
    }
  });
});

test("an app isn't quarantined while MARKETPLACE_URL is wrong, and is installed once it is corrected", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const catalog = await startCatalog(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const misconfigured: (() => Promise<unknown>)[] = [];
  const MARKETPLACE_URL = new URL(catalog.url).origin;
  const ehr = await startEhr((undo) => misconfigured.push(undo), serviceUrl, { MARKETPLACE_URL });
  const body = eventOf({ what: "created", id: randomUUID(), app: "cuffline", at: began });
  assert.deepEqual(await send(ehr.url, { body }), { status: 200, message: "applied" });
  await eventually("the wrong path is requested", 15_000, () => catalog.requested.includes("/apps/cuffline"));
  for (const undo of misconfigured.toReversed()) await undo();
  const readState = (): Promise<{ isAbsent: boolean; isConfirmed: boolean }> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query(
        `select catalog_absent_at is not null as "isAbsent", confirmed_at is not null as "isConfirmed"
         from subscriptions join apps on slug = app_slug`,
      );
      return rows[0];
    });
  assert.deepEqual(await readState(), { isAbsent: false, isConfirmed: false });
  await startEhr(cleanUp, serviceUrl, { MARKETPLACE_URL: catalog.url });
  await eventually("it is confirmed", 30_000, async () => (await readState()).isConfirmed);
});

describe("configuring an app that the catalog no longer has", () => {
  const cleanUp = cleanUpAfter();
  let catalog: Catalog;
  let practice: Practice;
  before(async () => {
    catalog = await startCatalog(cleanUp);
    practice = await startPractice(cleanUp, { MARKETPLACE_URL: catalog.url });
  });

  test("validates with the stored schema", async () => {
    const schema = {
      type: "object",
      properties: { apiKey: { type: "string", writeOnly: true }, size: { type: "integer" } },
    };
    const slug = await install(practice.database.ownerUrl, { schema });
    await change(practice.database.ownerUrl, "update apps set catalog_absent_at = now() where slug = $1", [slug]);
    await dataOf(await putConfig(practice, slug, { apiKey: "secret", size: 3 }));
    assert.deepEqual(await configShown(practice, slug), { apiKey: null, size: 3 });
    await assertFailure(await putConfig(practice, slug, { size: "large" }), 400);
  });

  test("accepts any object if its schema was never read, and treats every value as secret", async () => {
    const slug = await install(practice.database.ownerUrl, { slug: "long-gone" });
    const config = { apiKey: "secret", nested: { deep: ["secret too"] }, size: 3 };
    const { config: shown } = await dataOf<InstallationDto>(await putConfig(practice, slug, config));
    assert.deepEqual(shown, { apiKey: null, nested: null, size: null });
    assert.deepEqual(await configShown(practice, slug), shown);
    assert.deepEqual(await configInClear(practice, slug), config);
    await dataOf(await putConfig(practice, slug, { apiKey: null, size: 4 }));
    assert.deepEqual(await configInClear(practice, slug), { apiKey: "secret", size: 4 }, "null keeps what is stored");
    const requests = catalog.requested.filter((path) => path.endsWith(`/apps/${slug}`));
    assert.equal(requests.length, 1, "the catalog was read first");
  });

  test("keeps values hidden that were stored without a schema", async () => {
    const slug = await install(practice.database.ownerUrl, { slug: "back-again" });
    await dataOf(await putConfig(practice, slug, { language: "en-US" }));
    await change(
      practice.database.ownerUrl,
      "update apps set name = 'Back', schema_known = true, config_secrets = null, catalog_absent_at = null where slug = $1",
      [slug],
    );
    const shown = async (): Promise<InstallationDto> =>
      dataOf(await practice.as("riverside-member", `/app-installations/${slug}`));
    await eventually("the change is heard of", 15_000, async () => (await shown()).name === "Back");
    assert.deepEqual((await shown()).config, { language: null });
  });

  test("returns 503 if the schema was never read and the marketplace can't be reached", async () => {
    const slug = await install(practice.database.ownerUrl, { slug: "never-read" });
    catalog.setMode("shut");
    assert.match(await assertFailure(await putConfig(practice, slug, {}), 503), /marketplace can't be reached/);
    catalog.setMode("open");
  });
});
