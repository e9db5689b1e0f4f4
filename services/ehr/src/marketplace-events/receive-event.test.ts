import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  buildApp,
  eventOf,
  hilltop,
  readAllRows,
  readInstallationRows,
  riverside,
  secretOf,
  send,
  storeApps,
} from "./events.test-support.ts";

describe("receiving an event", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  let nth = 0;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await storeApps(
      ownerUrl,
      Array.from({ length: 50 }, (_, index) => `app-${index}`),
    );
    ehr = await startEhr(cleanUp, database.serviceUrl);
  });
  const began = Date.now() - 3_600_000;
  /** A new app and a subscription to it. */
  const newApp = (): { app: string; id: string } => {
    nth += 1;
    return { app: `app-${nth}`, id: randomUUID() };
  };
  const tell = async (input: Parameters<typeof eventOf>[0], message = "applied"): Promise<void> => {
    assert.deepEqual(await send(ehr.url, { body: eventOf(input) }), { status: 200, message });
  };
  const installed = async (slug: string) => {
    const found = (await readInstallationRows(ownerUrl)).find(({ app_slug }) => app_slug === slug);
    return found && { status: found.status, subscription: found.subscription_id };
  };
  const unchanged = async (work: () => Promise<unknown>): Promise<void> => {
    const earlier = await readAllRows(ownerUrl);
    await work();
    assert.deepEqual(await readAllRows(ownerUrl), earlier);
  };

  test("installs, pauses, resumes and removes", async () => {
    const { app, id } = newApp();
    await tell({ what: "created", id, app, at: began });
    assert.deepEqual(await installed(app), { status: "active", subscription: id });
    await tell({ what: "paused", id, app, at: began + 1 });
    assert.deepEqual(await installed(app), { status: "paused", subscription: id });
    await tell({ what: "resumed", id, app, at: began + 2 });
    assert.deepEqual(await installed(app), { status: "active", subscription: id });
    await tell({ what: "cancelled", id, app, at: began + 3 });
    assert.deepEqual(await installed(app), { status: "removed", subscription: id });
  });

  test("uses only the app's slug and scopes: other fields change nothing, and may be missing or invalid", async () => {
    for (const fields of [
      {},
      {
        id: 7,
        name: null,
        iconUrl: "not a url",
        category: [],
        extensionPoints: "x",
        smartLaunchUrl: 1,
      },
      { ...buildApp("any"), name: "Evil", smartLaunchUrl: "https://evil.example/launch" },
      { ...buildApp("any"), name: "half \ud83d" },
    ]) {
      const { app, id } = newApp();
      const appIn = (): Promise<unknown> =>
        withClient(ownerUrl, async (client) => (await client.query("select * from apps where slug = $1", [app])).rows);
      const earlier = await appIn();
      const body = { ...eventOf({ what: "created", id, app, at: began }), app: { ...fields, slug: app } };
      assert.deepEqual(await send(ehr.url, { body }), { status: 200, message: "applied" });
      assert.deepEqual(await installed(app), { status: "active", subscription: id });
      assert.deepEqual(await appIn(), earlier);
    }
  });

  test("paused before created installs as paused, and created then changes nothing", async () => {
    const { app, id } = newApp();
    await tell({ what: "paused", id, app, at: began + 1 });
    assert.deepEqual(await installed(app), { status: "paused", subscription: id });
    await unchanged(() =>
      tell({ what: "created", id, app, at: began }, "nothing to apply: this or something newer is known"),
    );
  });

  test("cancelled before created installs nothing, then or later", async () => {
    const { app, id } = newApp();
    await tell({ what: "cancelled", id, app, at: began + 1 });
    await tell({ what: "created", id, app, at: began }, "nothing to apply: this or something newer is known");
    assert.equal(await installed(app), undefined);
  });

  test("cancelled removes only its own subscription: a newer one keeps the app, in either order", async () => {
    for (const late of ["cancelled", "created"] as const) {
      const { app, id } = newApp();
      const again = randomUUID();
      await tell({ what: "created", id, app, at: began });
      const cancel = () => tell({ what: "cancelled", id, app, at: began + 1 });
      const subscribe = () => tell({ what: "created", id: again, app, at: began + 2 });
      if (late === "cancelled") {
        await subscribe();
        assert.deepEqual(await installed(app), { status: "active", subscription: again });
        await cancel();
      } else {
        await cancel();
        assert.equal((await installed(app))?.status, "removed");
        await subscribe();
      }
      assert.deepEqual(await installed(app), { status: "active", subscription: again });
    }
  });

  test("returns 200 `already applied` for the same delivery again, and changes nothing", async () => {
    const { app, id } = newApp();
    const delivery = { body: eventOf({ what: "created", id, app, at: began }), deliveryId: randomUUID() };
    assert.deepEqual(await send(ehr.url, delivery), { status: 200, message: "applied" });
    await unchanged(async () => {
      assert.deepEqual(await send(ehr.url, delivery), { status: 200, message: "already applied" });
    });
  });

  test("keeps delivery ids of organisations apart", async () => {
    const { app, id } = newApp();
    const deliveryId = randomUUID();
    for (const orgAlias of [riverside, hilltop]) {
      const body = eventOf({ what: "created", id, app, at: began, orgAlias });
      const response = await send(ehr.url, { body, secret: secretOf(orgAlias), deliveryId });
      assert.deepEqual(response, { status: 200, message: "applied" });
    }
  });

  test("applies a new event with the unsigned id of another delivery", async () => {
    const { app, id } = newApp();
    const deliveryId = randomUUID();
    await send(ehr.url, { body: eventOf({ what: "created", id, app, at: began }), deliveryId });
    const news = { body: eventOf({ what: "paused", id, app, at: began + 1 }), deliveryId };
    assert.deepEqual(await send(ehr.url, news), { status: 200, message: "applied" });
    assert.equal((await installed(app))?.status, "paused");
  });

  test("returns 200 for unknown events, and changes nothing", async () => {
    const { id } = newApp();
    await unchanged(async () => {
      for (const event of ["usage.reported", "subscription.transferred", "__proto__", "toString"]) {
        const body = { ...eventOf({ what: "created", id, at: began }), event };
        const message = "nothing to apply: events of this kind are not used here";
        assert.deepEqual(await send(ehr.url, { body }), { status: 200, message });
      }
    });
  });

  test("ignores unknown fields at every depth", async () => {
    const { app, id } = newApp();
    const event = eventOf({ what: "created", id, app, at: began });
    const body = {
      ...event,
      region: { of: ["the", "world"] },
      app: { ...event.app, rating: 5 },
      subscription: { ...event.subscription, quantity: 3 },
    };
    assert.deepEqual(await send(ehr.url, { body }), { status: 200, message: "applied" });
    assert.equal((await installed(app))?.status, "active");
  });

  test("accepts times with another precision", async () => {
    for (const timestamp of ["2026-03-18T09:30:00Z", "2026-03-18T09:30:00.123456Z", "2026-03-18T09:30:00+00:00"]) {
      const { app, id } = newApp();
      const response = await send(ehr.url, { body: { ...eventOf({ what: "created", id, app, at: 0 }), timestamp } });
      assert.deepEqual(response, { status: 200, message: "applied" }, timestamp);
    }
  });

  test("accepts times up to five minutes ahead; returns 400 beyond", async () => {
    const { app, id } = newApp();
    await tell({ what: "created", id, app, at: Date.now() + 290_000 });
    await unchanged(async () => {
      const body = eventOf({ what: "cancelled", id, app, at: Date.now() + 310_000 });
      const { status, message } = await send(ehr.url, { body });
      assert.equal(status, 400);
      assert.match(message, /more than 5 minutes ahead/);
    });
  });

  test("returns 400 without a delivery id, or with one that is too long", async () => {
    const { app, id } = newApp();
    const body = eventOf({ what: "created", id, app, at: began });
    await unchanged(async () => {
      for (const deliveryId of [null, "", "x".repeat(256)]) {
        const { status, message } = await send(ehr.url, { body, deliveryId });
        assert.equal(status, 400);
        assert.match(message, /x-marketplace-delivery-id is required/);
      }
    });
  });

  const event = eventOf({ what: "created", id: randomUUID(), at: began });
  const { app, subscription } = event;
  const noEvents: Record<string, unknown> = {
    "without an event": { subscription },
    "an event that is no text": { ...event, event: 7 },
    "without an app": { ...event, app: undefined },
    "an app that is no object": { ...event, app: "northwind-scribe" },
    "an app without a slug": { ...event, app: { ...app, slug: undefined } },
    "a slug that is none": { ...event, app: { ...app, slug: "Not A Slug" } },
    "a slug that is too long": { ...event, app: { ...app, slug: "a".repeat(65) } },
    "an id that PostgreSQL doesn't take": {
      ...event,
      subscription: { ...subscription, id: `urn:uuid:${randomUUID()}` },
    },
    "a status of another event": { ...event, subscription: { ...subscription, status: "cancelled" } },
    "a status that is none": { ...event, subscription: { ...subscription, status: "asleep" } },
    "NUL in a name": { ...event, app: { ...app, name: "nul \0 here" } },
    "NUL in an unknown field": { ...event, more: ["\0"] },
    "a time that is none": { ...event, timestamp: "yesterday" },
    "a time without a zone": { ...event, timestamp: "2026-03-18T09:30:00" },
    "a time elsewhere": { ...event, timestamp: "2026-03-18T09:30:00+02:00" },
    "a leap second": { ...event, timestamp: "2016-12-31T23:59:60Z" },
    "without a time": { ...event, timestamp: undefined },
  };
  for (const [what, body] of Object.entries(noEvents)) {
    test(`returns 400 for a verified but invalid event: ${what}`, () =>
      unchanged(async () => {
        const { status, message } = await send(ehr.url, { body });
        assert.equal(status, 400, message);
      }));
  }

  test("accepts 64 KiB; returns 413 for more, and 415 for another content type", async () => {
    const { app: slug, id } = newApp();
    const small = eventOf({ what: "created", id, app: slug, at: began });
    const padded = (bytes: number): string => {
      const rest = bytes - JSON.stringify({ ...small, padding: "" }).length;
      return JSON.stringify({ ...small, padding: "x".repeat(rest) });
    };
    assert.equal((await send(ehr.url, { body: padded(65_537) })).status, 413);
    assert.equal((await send(ehr.url, { body: small, headers: { "content-type": "text/plain" } })).status, 415);
    assert.deepEqual(await send(ehr.url, { body: padded(65_536) }), { status: 200, message: "applied" });
  });
});
