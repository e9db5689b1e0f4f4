import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import fc from "fast-check";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteRemovedInstallations } from "../installations/installation-retention.ts";
import { type InstalledRow, readInstallationRows, storeApps } from "../marketplace-events/events.test-support.ts";
import { applyState, type SubscriptionState } from "./apply-state.ts";

const orgAlias = "riverside-clinic";
const day = 86_400_000;
const began = new Date("2026-03-01T00:00:00.000Z").getTime();

describe("the state of a subscription", () => {
  const cleanUp = cleanUpAfter();
  let database: Kysely<DB>;
  let ownerUrl: string;
  let apply: (state: Partial<SubscriptionState> & { subscriptionId: string }) => Promise<boolean>;
  let nth = 0;
  const newApp = (): string => {
    nth += 1;
    return `app-${nth}`;
  };

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = cloned);
    const connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    ({ database } = connected);
    apply = (state) =>
      database.transaction().execute(async (transaction) => {
        const { changed } = await applyState(transaction, connected.queue, {
          orgAlias,
          appSlug: "app-0",
          status: "active",
          asOf: new Date(began),
          now: new Date(began),
          isListed: false,
          ...state,
        });
        return changed;
      });
    await storeApps(
      ownerUrl,
      Array.from({ length: 100 }, (_, index) => `app-${index}`),
    );
    // The catalog counts as recently read at any time of these tests.
    await withClient(ownerUrl, (client) => client.query("update apps set fetched_at = now() + interval '10 years'"));
  });
  const installed = async (slug: string): Promise<InstalledRow | undefined> =>
    (await readInstallationRows(ownerUrl)).find(({ app_slug }) => app_slug === slug);
  const configure = (slug: string): Promise<unknown> =>
    withClient(ownerUrl, (client) =>
      client.query(
        `update installations set encrypted_config = '1.c2VhbGVk', config_secrets = '["/key"]' where app_slug = $1`,
        [slug],
      ),
    );

  test("keeps the newest state of each subscription in any order and with repeats, and shows the newest live one", async () => {
    const statuses = ["active", "paused", "cancelled"] as const;
    const state = fc.record({
      of: fc.nat({ max: 3 }),
      status: fc.constantFrom(...statuses),
      // Unique, as the marketplace's times are within a subscription.
      at: fc.nat({ max: 1_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(state, { selector: ({ at }) => at, minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        async (states, random) => {
          const app = newApp();
          const ids = [0, 1, 2, 3].map(() => randomUUID());
          const arriving = [...states, ...states.filter(() => (random.next().value ?? 0) % 2 === 0)]
            .map((each) => ({ each, place: random.next().value ?? 0 }))
            .toSorted((one, other) => one.place - other.place);
          for (const { each } of arriving) {
            const asOf = new Date(began + each.at);
            const subscriptionId = ids[each.of] ?? "";
            await apply({ subscriptionId, appSlug: app, status: each.status, asOf });
          }
          const newestFirst = states.toSorted((one, other) => other.at - one.at);
          const newestOfEach = ids.map((_, of) => newestFirst.find((each) => each.of === of));
          const shown = newestFirst.find((each) => each.status !== "cancelled" && newestOfEach[each.of] === each);
          const found = await installed(app);
          if (shown === undefined) assert.ok(found === undefined || found.status === "removed");
          else assert.deepEqual([found?.status, found?.subscription_id], [shown.status, ids[shown.of]]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("ignores a state that is as old as the stored one or older", async () => {
    const [appSlug, subscriptionId] = [newApp(), randomUUID()];
    assert.equal(await apply({ subscriptionId, appSlug, asOf: new Date(began + 5) }), true);
    for (const asOf of [began + 5, began + 4, 0]) {
      assert.equal(await apply({ subscriptionId, appSlug, status: "cancelled", asOf: new Date(asOf) }), false);
    }
    assert.equal(await apply({ subscriptionId, appSlug, status: "cancelled", asOf: new Date(began + 6) }), true);
  });

  test("is separate for the same id in two organisations", async () => {
    const [appSlug, subscriptionId] = [newApp(), randomUUID()];
    await apply({ subscriptionId, appSlug });
    await apply({ subscriptionId, appSlug, orgAlias: "hilltop-family-practice", asOf: new Date(began - 1) });
    await apply({ subscriptionId, appSlug, status: "cancelled", asOf: new Date(began + 1) });
    const rows = (await readInstallationRows(ownerUrl)).filter(
      ({ subscription_id }) => subscription_id === subscriptionId,
    );
    assert.deepEqual(
      rows.map(({ org_alias, status }) => [org_alias, status]),
      [
        ["hilltop-family-practice", "active"],
        [orgAlias, "removed"],
      ],
    );
  });

  test("never moves to another app by an event, only by the marketplace's list", async () => {
    const [known, other, subscriptionId] = [newApp(), newApp(), randomUUID()];
    await apply({ subscriptionId, appSlug: known });
    await assert.rejects(apply({ subscriptionId, appSlug: other, asOf: new Date(began + 1) }), /another app/);
    assert.equal((await installed(known))?.status, "active");
    assert.equal(await apply({ subscriptionId, appSlug: other, asOf: new Date(began - 1), isListed: true }), true);
    assert.equal((await installed(known))?.status, "removed");
    assert.equal((await installed(other))?.status, "active");
  });

  for (const [days, kept] of [
    [30, true],
    [30.001, false],
  ] as const) {
    test(`${kept ? "restores" : "deletes"} the configuration for a new subscription after ${days} days`, async () => {
      const [slug, first] = [newApp(), randomUUID()];
      const appSlug = slug;
      await apply({ subscriptionId: first, appSlug });
      await configure(slug);
      await apply({
        subscriptionId: first,
        appSlug,
        status: "cancelled",
        asOf: new Date(began + 1),
        now: new Date(began + day),
      });
      const left = await installed(slug);
      assert.deepEqual([left?.status, left?.removed_at?.getTime()], ["removed", began + day]);
      assert.notEqual(left?.encrypted_config, null);
      const now = new Date(began + day + days * day);
      await apply({ subscriptionId: randomUUID(), appSlug, asOf: new Date(began + 2), now });
      const again = await installed(slug);
      assert.deepEqual([again?.id, again?.status, again?.removed_at], [left?.id, "active", null]);
      assert.deepEqual(again?.installed_at, now);
      assert.equal(again?.encrypted_config !== null, kept);
    });
  }

  test("keeps the configuration and the installation date when paused and resumed", async () => {
    const [slug, subscriptionId] = [newApp(), randomUUID()];
    const appSlug = slug;
    await apply({ subscriptionId, appSlug });
    await configure(slug);
    for (const [step, status] of (["paused", "active"] as const).entries()) {
      await apply({
        subscriptionId,
        appSlug,
        status,
        asOf: new Date(began + 1 + step),
        now: new Date(began + 90 * day),
      });
      const found = await installed(slug);
      assert.equal(found?.status, status);
      assert.notEqual(found?.encrypted_config, null);
      assert.deepEqual(found?.installed_at, new Date(began));
    }
  });

  test("deletes only installations that were removed more than 30 days ago", async () => {
    const now = new Date(began + 400 * day);
    const slugs = { live: newApp(), lately: newApp(), longAgo: newApp() };
    for (const [which, slug] of Object.entries(slugs)) {
      const [appSlug, subscriptionId] = [slug, randomUUID()];
      await apply({ subscriptionId, appSlug });
      const removedAt = new Date(now.getTime() - (which === "longAgo" ? 31 : 29) * day);
      const cancelled = {
        subscriptionId,
        appSlug,
        status: "cancelled",
        asOf: new Date(began + 1),
        now: removedAt,
      } as const;
      if (which !== "live") await apply(cancelled);
    }
    await deleteRemovedInstallations(database, now);
    assert.equal((await installed(slugs.live))?.status, "active");
    assert.equal((await installed(slugs.lately))?.status, "removed");
    assert.equal(await installed(slugs.longAgo), undefined);
  });
});
