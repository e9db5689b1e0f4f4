import assert from "node:assert/strict";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, type RunningEhr, startEhr } from "@ehr-marketplace/tests/support";
import { signBody } from "@ehr-marketplace/webhook-signature";
import fc from "fast-check";
import {
  eventOf,
  everythingIn,
  hilltop,
  installationsIn,
  knowApps,
  riverside,
  type Sending,
  secretOf,
  send,
} from "./events.test-support.ts";

const began = Date.now() - 3_600_000;
const refusal = {
  status: 401,
  message: "No secret of the organisation that the body names made this signature of it.",
};

describe("whoever has no secret of the organisation", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  const id = randomUUID();
  const created = eventOf({ what: "created", id, at: began });
  const genuine = JSON.stringify(created);
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await knowApps(ownerUrl, ["northwind-scribe"]);
    ehr = await startEhr(cleanUp, database.serviceUrl);
    assert.equal((await send(ehr.url, { body: genuine, deliveryId: "the first" })).status, 200);
  });
  const refused = async (sending: Sending): Promise<void> => {
    const earlier = await everythingIn(ownerUrl);
    assert.deepEqual(await send(ehr.url, sending), refusal);
    assert.deepEqual(await everythingIn(ownerUrl), earlier);
  };

  const news = eventOf({ what: "cancelled", id, at: began + 1 });
  const right = signBody(JSON.stringify(news), secretOf(riverside));
  const forged: Record<string, Partial<Sending>> = {
    "with a secret that is nobody's": { secret: "a secret of nobody at all" },
    "without a signature": { signature: "" },
    "with a signature that is none": { signature: "0".repeat(64) },
    "with half a signature": { signature: right.slice(0, 32) },
    "with a signature in capitals": { signature: right.toUpperCase() },
    "with the signature twice": { signature: `${right}, ${right}` },
    "with a prefix before the signature": { signature: `sha256=${right}` },
    "with the decoded key of the secret": {
      signature: createHmac("sha256", Buffer.from(secretOf(riverside).slice("whsec_".length), "base64"))
        .update(JSON.stringify(news))
        .digest("hex"),
    },
    "with the signature of another body": { signature: signBody(genuine, secretOf(riverside)) },
  };
  for (const [how, sending] of Object.entries(forged)) {
    test(`can't forge an event ${how}`, () => refused({ body: news, ...sending }));
  }

  test("can't send a genuine one cut short, at any place", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: genuine.length - 1 }), async (length) => {
        await refused({ body: genuine.slice(0, length), signature: signBody(genuine, secretOf(riverside)) });
      }),
      { numRuns: 20 },
    ));

  test("can't send a genuine one with any byte changed", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: genuine.length - 1 }), async (at) => {
        const other = genuine[at] === "x" ? "y" : "x";
        const body = genuine.slice(0, at) + other + genuine.slice(at + 1);
        await refused({ body, signature: signBody(genuine, secretOf(riverside)) });
      }),
      { numRuns: 20 },
    ));

  const reserialised: Record<string, string> = {
    indented: JSON.stringify(created, null, 2),
    "with its fields in another order": JSON.stringify(Object.fromEntries(Object.entries(created).toReversed())),
    "with escapes": genuine.replaceAll("/", "\\/"),
    "with a byte order mark": `\uFEFF${genuine}`,
    "with a line's end": `${genuine}\n`,
  };
  for (const [how, body] of Object.entries(reserialised)) {
    test(`can't send a genuine one written again ${how}`, () =>
      refused({ body, signature: signBody(genuine, secretOf(riverside)) }));
  }

  const without: Record<string, unknown> = {
    "an alias that nobody has": eventOf({ what: "created", id, at: began, orgAlias: "nobodys-clinic" }),
    "an alias that is none": eventOf({ what: "created", id, at: began, orgAlias: "nul \0 clinic" }),
    "an alias that is no text": { ...created, subscription: { ...created.subscription, orgAlias: { a: 1 } } },
    "an inherited alias": {
      ...created,
      subscription: { id, status: "active", ["__proto__"]: { orgAlias: riverside } },
    },
    "no subscription": { event: "ping", timestamp: created.timestamp },
    "no object": "null",
    nothing: "",
    "no JSON": `${genuine}}`,
    "ever deeper lists": "[".repeat(30_000),
    "its own secret, and lists that nest too deep": JSON.stringify({
      ...created,
      padding: JSON.parse("[".repeat(64) + "]".repeat(64)) as unknown,
    }),
  };
  for (const [what, body] of Object.entries(without)) {
    test(`learns nothing: ${what} is refused like a wrong signature`, () => refused({ body }));
  }

  test("can replay what was recorded, under any id and at any time, and changes nothing", async () => {
    const cancelled = { body: JSON.stringify(news), deliveryId: "the second" };
    assert.deepEqual(await send(ehr.url, cancelled), { status: 200, message: "applied" });
    const earlier = await everythingIn(ownerUrl);
    for (const body of [genuine, cancelled.body]) {
      for (const deliveryId of ["the first", "the second", "the third", randomUUID()]) {
        assert.equal((await send(ehr.url, { body, deliveryId })).status, 200);
      }
    }
    assert.deepEqual(await everythingIn(ownerUrl), earlier);
    assert.equal((await installationsIn(ownerUrl))[0]?.status, "removed");
  });
});

describe("the holder of one organisation's secret", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  const theirs = randomUUID();
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await knowApps(ownerUrl, ["northwind-scribe"]);
    ehr = await startEhr(cleanUp, database.serviceUrl);
    const body = eventOf({ what: "created", id: theirs, at: began, orgAlias: hilltop });
    assert.equal((await send(ehr.url, { body, secret: secretOf(hilltop), deliveryId: "of hilltop" })).status, 200);
  });
  const ofHilltop = async (): Promise<unknown[]> =>
    JSON.parse(JSON.stringify(await everythingIn(ownerUrl)), (_key, value: unknown) =>
      Array.isArray(value) ? value.filter((row) => !isOf(row, riverside)) : value,
    ) as unknown[];
  const isOf = (row: unknown, alias: string): boolean =>
    typeof row === "object" && row !== null && (row as { org_alias?: string }).org_alias === alias;

  test("can tell nothing in the name of another", async () => {
    const body = eventOf({ what: "cancelled", id: theirs, at: began + 1, orgAlias: hilltop });
    assert.deepEqual(await send(ehr.url, { body, secret: secretOf(riverside) }), refusal);
  });

  test("can't name two organisations: the one whose key is taken is the one that is told of", async () => {
    const event = JSON.stringify(eventOf({ what: "cancelled", id: theirs, at: began + 2, orgAlias: hilltop }));
    const twice = event.replace('"orgAlias":', `"orgAlias":"${riverside}","orgAlias":`);
    assert.deepEqual(await send(ehr.url, { body: twice, secret: secretOf(riverside) }), refusal);
    const earlier = await ofHilltop();
    const other = event.replace(`"orgAlias":"${hilltop}"`, `"orgAlias":"${hilltop}","orgAlias":"${riverside}"`);
    assert.equal((await send(ehr.url, { body: other, secret: secretOf(riverside) })).status, 200);
    assert.deepEqual(await ofHilltop(), earlier);
  });

  test("changes nothing of another, whatever it signs: not with its subscriptions, nor under its deliveries' ids", async () => {
    const earlier = await ofHilltop();
    const event = fc.record({
      what: fc.constantFrom("created", "paused", "resumed", "cancelled"),
      id: fc.constantFrom(theirs, randomUUID()),
      at: fc.integer({ min: began - 5, max: began + 60_000 }),
      app: fc.constant("northwind-scribe"),
    });
    const deliveryId = fc.constantFrom("of hilltop", "of nobody");
    await fc.assert(
      fc.asyncProperty(event, deliveryId, async (told, id) => {
        const body: SubscriptionEvent = eventOf({ ...(told as Parameters<typeof eventOf>[0]), orgAlias: riverside });
        assert.equal((await send(ehr.url, { body, deliveryId: id })).status, 200);
        assert.deepEqual(await ofHilltop(), earlier);
      }),
      { numRuns: 30 },
    );
  });
});

describe("refused signatures", () => {
  const cleanUp = cleanUpAfter();

  test("count toward a rate, and nothing else does", async () => {
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const ehr = await startEhr(cleanUp, serviceUrl, { PUBLIC_REQUESTS_PER_MINUTE: "5", TRUSTED_PROXIES: "127.0.0.1" });
    const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
    const body = eventOf({ what: "created", id: randomUUID(), at: began });
    for (let nth = 0; nth < 20; nth += 1)
      assert.equal((await send(ehr.url, { body, ...from("192.0.2.1") })).status, 200);
    for (let nth = 0; nth < 20; nth += 1) {
      const broken = await send(ehr.url, { body: { ...body, timestamp: "never" }, ...from("192.0.2.1") });
      assert.equal(broken.status, 400);
    }
    const forged = { body, signature: randomBytes(32).toString("hex"), ...from("192.0.2.1") };
    for (let nth = 0; nth < 5; nth += 1) assert.equal((await send(ehr.url, forged)).status, 401);
    assert.equal((await send(ehr.url, forged)).status, 429);
    assert.equal(
      (await send(ehr.url, { body, ...from("192.0.2.1") })).status,
      200,
      "a good one is applied all the same",
    );
    assert.equal((await send(ehr.url, { body, ...from("192.0.2.2") })).status, 200);
    const answer = await fetch(`${ehr.url}/api/internal/marketplace-webhook`, { method: "POST", ...from("192.0.2.1") });
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
    assert.equal(answer.headers.get("ratelimit-limit"), "5");
  });

  test("of one address, thousands of them, don't keep good ones from the same address from being applied", async () => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    await knowApps(ownerUrl, ["northwind-scribe"]);
    const ehr = await startEhr(cleanUp, serviceUrl, { PUBLIC_REQUESTS_PER_MINUTE: "5" });
    const large = { padding: "x".repeat(60_000) };
    const bad: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      const forged = Array.from({ length: 50 }, async (_, nth) => {
        const body = { ...eventOf({ what: "created", id: randomUUID(), at: began }), ...(nth % 5 === 0 ? large : {}) };
        bad.push((await send(ehr.url, { body, signature: randomBytes(32).toString("hex") })).status);
      });
      const genuine = eventOf({ what: "created", id: randomUUID(), at: began + round });
      assert.deepEqual(await send(ehr.url, { body: genuine }), { status: 200, message: "applied" });
      await Promise.all(forged);
    }
    assert.deepEqual(new Set(bad), new Set([401, 429]));
    // Those that come at once are all verified before the first one is counted; each minute has a limit of its own.
    assert.ok(bad.filter((status) => status === 429).length > bad.length / 2, `${bad.length}`);
  });
});
