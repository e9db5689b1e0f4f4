import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import fc from "fast-check";
import { fetchApp } from "../apps/fetch-app.ts";
import { inspectSchema } from "../apps/inspect-schema.ts";
import type { MarketplaceCatalog } from "../apps/marketplace-catalog.ts";
import { storeListedApps } from "../apps/store-listed-apps.ts";
import type { DB } from "../database-schema.ts";
import { buildApp, readInstallationRows, riverside } from "../marketplace-events/events.test-support.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import { applyState, type SubscriptionState } from "./apply-state.ts";
import { type ConfirmDeps, confirmForAll, quarantineForAll } from "./confirm-subscriptions.ts";

const began = Date.UTC(2026, 2, 1);
const never = new AbortController().signal;

describe("an app is installed by the newest confirmed live subscription, and by no other", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let deps: ConfirmDeps;
  let other: ConfirmDeps;
  let nth = 0;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = cloned);
    const connect = async () => ({ ...(await connectAsService<DB>(cleanUp, cloned.serviceUrl)), reconciles: false });
    deps = await connect();
    other = await connect();
  });
  const newApp = (): string => `app-${(nth += 1)}`;
  const apply = (state: Partial<SubscriptionState> & { subscriptionId: string; appSlug: string }) =>
    withOrganisationLock(deps, state.orgAlias ?? riverside, (transaction) =>
      applyState(transaction, deps.queue, {
        orgAlias: riverside,
        status: "active",
        asOf: new Date(began),
        now: new Date(),
        isListed: false,
        ...state,
      }),
    );
  /** A catalog with one fixed response, without HTTP. */
  const catalogThat = (has: boolean): MarketplaceCatalog => ({
    async fetchApp(slug) {
      return has
        ? {
            kind: "found",
            found: { app: buildApp(slug), cdsServicesUrl: null, schema: inspectSchema(null), etag: null },
          }
        : { kind: "absent" };
    },
  });
  const fetched = async (slug: string, has: boolean): Promise<void> => {
    await withClient(ownerUrl, (client) => client.query("update apps set fetched_at = null where slug = $1", [slug]));
    await fetchApp({ ...deps, catalog: catalogThat(has) }, slug);
  };
  const installed = async (slug: string, orgAlias = riverside): Promise<[string, string] | undefined> => {
    const row = (await readInstallationRows(ownerUrl)).find(
      (each) => each.app_slug === slug && each.org_alias === orgAlias,
    );
    return row === undefined || row.status === "removed" ? undefined : [row.status, row.subscription_id];
  };

  test("in any order of events, lists and the catalog's responses", async () => {
    const status = fc.constantFrom("active" as const, "paused" as const, "cancelled" as const);
    const about = { of: fc.nat({ max: 2 }), status, at: fc.nat({ max: 20 }) };
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("event" as const), ...about }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("listed" as const), ...about }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("found" as const, "absent" as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const appSlug = newApp();
        const ids = [0, 1, 2].map(() => randomUUID());
        const known = new Map<number, { status: string; at: number; isConfirmed: boolean; isListed: boolean }>();
        let [hasFacts, isInCatalog] = [false, false];
        for (const each of steps) {
          if (!("of" in each)) {
            // Only apps with subscriptions are fetched.
            if (known.size === 0) continue;
            await fetched(appSlug, each.kind === "found");
            await (each.kind === "found" ? confirmForAll : quarantineForAll)(deps, appSlug, never);
            isInCatalog = each.kind === "found";
            hasFacts ||= isInCatalog;
            for (const one of known.values()) {
              if (one.status !== "cancelled") one.isConfirmed = isInCatalog || (one.isConfirmed && one.isListed);
            }
            continue;
          }
          const isListed = each.kind === "listed";
          if (isListed) await storeListedApps(deps.database, [buildApp(appSlug)], new Date());
          hasFacts ||= isListed;
          const subscriptionId = ids[each.of] ?? "";
          await apply({ subscriptionId, appSlug, status: each.status, asOf: new Date(began + each.at), isListed });
          const earlier = known.get(each.of);
          const isNewer = earlier === undefined || earlier.at < each.at;
          // Cancelling resets confirmed and listed.
          const isRevived = isNewer && earlier?.status === "cancelled" && each.status !== "cancelled";
          const kept = isRevived ? undefined : earlier;
          const isConfirmed = kept?.isConfirmed === true || isListed || (isNewer && hasFacts && isInCatalog);
          const hasBeenListed = kept?.isListed === true || (isListed && (isNewer || kept?.isConfirmed === false));
          const next = isNewer ? { status: each.status, at: each.at } : earlier;
          known.set(each.of, { ...next, isConfirmed, isListed: hasBeenListed });
        }
        const shown = [...known]
          .filter(([, one]) => one.isConfirmed && one.status !== "cancelled")
          .toSorted(([one, a], [two, b]) => b.at - a.at || ((ids[two] ?? "") < (ids[one] ?? "") ? -1 : 1))[0];
        const expected = shown === undefined ? undefined : [shown[1].status, ids[shown[0]]];
        assert.deepEqual(await installed(appSlug), expected);
      }),
      { numRuns: 60 },
    );
  });

  test("rejects an event that names another app than the stored subscription", async () => {
    const [real, planted, subscriptionId] = [newApp(), newApp(), randomUUID()];
    await apply({ subscriptionId, appSlug: real });
    await fetched(real, true);
    await confirmForAll(deps, real, never);
    assert.deepEqual(await installed(real), ["active", subscriptionId]);
    // Stored from another organisation's list, and in no catalog.
    await storeListedApps(deps.database, [buildApp(planted)], new Date());
    await assert.rejects(apply({ subscriptionId, appSlug: planted, asOf: new Date(began + 1) }), /another app/);
    assert.deepEqual([await installed(real), await installed(planted)], [["active", subscriptionId], undefined]);
  });

  test("installs each app once when two processes confirm concurrently and a third was killed half-way", async () => {
    const appSlug = newApp();
    const practices = Array.from({ length: 120 }, (_, index) => `practice-${index}`);
    await insertEhrOrganisations(
      ownerUrl,
      practices.map((alias) => ({ alias, secret: `the secret of ${alias}` })),
    );
    for (const orgAlias of practices) await apply({ orgAlias, appSlug, subscriptionId: randomUUID() });
    await fetched(appSlug, true);
    const installedNow = async () =>
      (await readInstallationRows(ownerUrl)).filter(({ app_slug }) => app_slug === appSlug);
    const killed = new AbortController();
    let begun = 0;
    // It is read once for each organisation.
    const clock = (): Date => {
      begun += 1;
      if (begun === 10) killed.abort();
      return other.clock();
    };
    await assert.rejects(confirmForAll({ ...other, clock }, appSlug, killed.signal), /abort/i);
    assert.equal((await installedNow()).length, 10, "it was stopped half-way");
    await Promise.all([confirmForAll(deps, appSlug, never), confirmForAll(other, appSlug, never)]);
    const rows = await installedNow();
    assert.deepEqual(rows.map(({ org_alias }) => org_alias).toSorted(), practices.toSorted());
    for (const { status, installed_at, updated_at } of rows)
      assert.deepEqual([status, installed_at], ["active", updated_at]);
    const { rows: unconfirmed } = await withClient(ownerUrl, (client) =>
      client.query("select from subscriptions where app_slug = $1 and confirmed_at is null", [appSlug]),
    );
    assert.equal(unconfirmed.length, 0);
  });

  test("finds unconfirmed subscriptions by an index", async () => {
    const appSlug = newApp();
    await storeListedApps(deps.database, [buildApp(appSlug)], new Date());
    await withClient(ownerUrl, async (client) => {
      await client.query(
        `insert into subscriptions select $1, gen_random_uuid(), $2, 'active', now(), now() from generate_series(1, 20000)`,
        [riverside, appSlug],
      );
      await client.query("analyze subscriptions");
      const where = "where confirmed_at is null and status <> 'cancelled'";
      for (const query of [
        `select distinct org_alias from subscriptions ${where} and app_slug = '${appSlug}' order by 1 limit 100`,
        `select from subscriptions join apps on slug = app_slug ${where} and org_alias = '${riverside}' and app_slug = '${appSlug}'`,
        `select count(*) from subscriptions join apps on slug = app_slug ${where} and catalog_absent_at is not null`,
      ]) {
        const { rows } = await client.query(`explain ${query}`);
        assert.match(JSON.stringify(rows), /subscriptions_unconfirmed/, query);
      }
      await client.query("update subscriptions set listed_at = now()");
      await client.query("analyze subscriptions");
      const neverListed = `listed_at is null and status <> 'cancelled' and app_slug = '${appSlug}'`;
      const { rows } = await client.query(
        `explain select distinct org_alias from subscriptions where ${neverListed} order by 1 limit 100`,
      );
      assert.match(JSON.stringify(rows), /subscriptions_never_listed/);
    });
  });
});
