import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { cleanUpAfter, cloneDatabase, type RunningEhr, startEhr } from "@ehr-marketplace/tests/support";
import {
  appCalled,
  eventOf,
  everythingIn,
  hilltop,
  installationsIn,
  knowApps,
  riverside,
  secretOf,
  send,
} from "./events.test-support.ts";

describe("what the marketplace tells", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  let nth = 0;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await knowApps(
      ownerUrl,
      Array.from({ length: 50 }, (_, index) => `app-${index}`),
    );
    ehr = await startEhr(cleanUp, database.serviceUrl);
  });
  const began = Date.now() - 3_600_000;
  /** An app of the test's own, and a subscription to it. */
  const newApp = (): { app: string; id: string } => {
    nth += 1;
    return { app: `app-${nth}`, id: randomUUID() };
  };
  const tell = async (told: Parameters<typeof eventOf>[0], message = "applied"): Promise<void> => {
    assert.deepEqual(await send(ehr.url, { body: eventOf(told) }), { status: 200, message });
  };
  const installed = async (slug: string) => {
    const found = (await installationsIn(ownerUrl)).find(({ app_slug }) => app_slug === slug);
    return found && { status: found.status, subscription: found.subscription_id };
  };
  const unchanged = async (work: () => Promise<unknown>): Promise<void> => {
    const earlier = await everythingIn(ownerUrl);
    await work();
    assert.deepEqual(await everythingIn(ownerUrl), earlier);
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

  test("needs of the app only its slug: what else the event says of it changes nothing, and may be missing or odd", async () => {
    for (const fields of [
      {},
      {
        id: 7,
        name: null,
        iconUrl: "not a url",
        category: [],
        extensionPoints: "x",
        smartLaunchUrl: 1,
        fhirScopes: {},
      },
      { ...appCalled("any"), name: "Evil", smartLaunchUrl: "https://evil.example/launch" },
      { ...appCalled("any"), name: "half \ud83d" },
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

  test("cancelled removes only its own: who subscribed again keeps the app, in either order", async () => {
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

  test("the same delivery again is answered 200 `already applied`, and changes nothing", async () => {
    const { app, id } = newApp();
    const delivery = { body: eventOf({ what: "created", id, app, at: began }), deliveryId: randomUUID() };
    assert.deepEqual(await send(ehr.url, delivery), { status: 200, message: "applied" });
    await unchanged(async () => {
      assert.deepEqual(await send(ehr.url, delivery), { status: 200, message: "already applied" });
    });
  });

  test("a delivery's id is each organisation's own", async () => {
    const { app, id } = newApp();
    const deliveryId = randomUUID();
    for (const orgAlias of [riverside, hilltop]) {
      const body = eventOf({ what: "created", id, app, at: began, orgAlias });
      const answer = await send(ehr.url, { body, secret: secretOf(orgAlias), deliveryId });
      assert.deepEqual(answer, { status: 200, message: "applied" });
    }
  });

  test("the id of a delivery isn't signed: under that of another one, news are applied all the same", async () => {
    const { app, id } = newApp();
    const deliveryId = randomUUID();
    await send(ehr.url, { body: eventOf({ what: "created", id, app, at: began }), deliveryId });
    const news = { body: eventOf({ what: "paused", id, app, at: began + 1 }), deliveryId };
    assert.deepEqual(await send(ehr.url, news), { status: 200, message: "applied" });
    assert.equal((await installed(app))?.status, "paused");
  });

  test("events that nobody knows are answered 200, and change nothing", async () => {
    const { id } = newApp();
    await unchanged(async () => {
      for (const event of ["usage.reported", "subscription.transferred", "__proto__", "toString"]) {
        const body = { ...eventOf({ what: "created", id, at: began }), event };
        const message = "nothing to apply: events of this kind are not used here";
        assert.deepEqual(await send(ehr.url, { body }), { status: 200, message });
      }
    });
  });

  test("fields that nobody knows are ignored, at every depth", async () => {
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

  test("a time with other digits than ours is UTC all the same", async () => {
    for (const timestamp of ["2026-03-18T09:30:00Z", "2026-03-18T09:30:00.123456Z", "2026-03-18T09:30:00+00:00"]) {
      const { app, id } = newApp();
      const answer = await send(ehr.url, { body: { ...eventOf({ what: "created", id, app, at: 0 }), timestamp } });
      assert.deepEqual(answer, { status: 200, message: "applied" }, timestamp);
    }
  });

  test("up to five minutes ahead, the marketplace's clock is believed; beyond, the answer is 400", async () => {
    const { app, id } = newApp();
    await tell({ what: "created", id, app, at: Date.now() + 290_000 });
    await unchanged(async () => {
      const body = eventOf({ what: "cancelled", id, app, at: Date.now() + 310_000 });
      const { status, message } = await send(ehr.url, { body });
      assert.equal(status, 400);
      assert.match(message, /more than 5 minutes ahead/);
    });
  });

  test("without its delivery's id, or with one that is too long, an event is refused: 400", async () => {
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
    "NUL in a field that nobody knows": { ...event, more: ["\0"] },
    "a time that is none": { ...event, timestamp: "yesterday" },
    "a time without a zone": { ...event, timestamp: "2026-03-18T09:30:00" },
    "a time elsewhere": { ...event, timestamp: "2026-03-18T09:30:00+02:00" },
    "a leap second": { ...event, timestamp: "2016-12-31T23:59:60Z" },
    "without a time": { ...event, timestamp: undefined },
  };
  for (const [what, body] of Object.entries(noEvents)) {
    test(`verified, but no event of ours, is 400: ${what}`, () =>
      unchanged(async () => {
        const { status, message } = await send(ehr.url, { body });
        assert.equal(status, 400, message);
      }));
  }

  test("64 KiB are read; what is larger is 413, and another type than JSON 415, in the wrapper", async () => {
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
