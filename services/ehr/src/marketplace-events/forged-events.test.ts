import assert from "node:assert/strict";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { signBody } from "@ehr-marketplace/webhook-signature";
import fc from "fast-check";
import {
  eventOf,
  hilltop,
  readAllRows,
  readInstallationRows,
  riverside,
  type SendOptions,
  secretOf,
  send,
  storeApps,
} from "./events.test-support.ts";

const began = Date.now() - 3_600_000;
const refusal = {
  status: 401,
  message: "The signature doesn't match any secret of the organisation that the body names.",
};

describe("a sender without a secret of the organisation", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  const id = randomUUID();
  const created = eventOf({ what: "created", id, at: began });
  const genuine = JSON.stringify(created);
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await storeApps(ownerUrl, ["northwind-scribe"]);
    ehr = await startEhr(cleanUp, database.serviceUrl);
    assert.equal((await send(ehr.url, { body: genuine, deliveryId: "the first" })).status, 200);
  });
  const refused = async (sending: SendOptions): Promise<void> => {
    const earlier = await readAllRows(ownerUrl);
    assert.deepEqual(await send(ehr.url, sending), refusal);
    assert.deepEqual(await readAllRows(ownerUrl), earlier);
  };

  const news = eventOf({ what: "cancelled", id, at: began + 1 });
  const right = signBody(JSON.stringify(news), secretOf(riverside));
  const forged: Record<string, Partial<SendOptions>> = {
    "with an unknown secret": { secret: "a secret of nobody at all" },
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

  test("can't truncate a genuine event at any byte", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: genuine.length - 1 }), async (length) => {
        await refused({ body: genuine.slice(0, length), signature: signBody(genuine, secretOf(riverside)) });
      }),
      { numRuns: 20 },
    ));

  test("can't change any byte of a genuine event", () =>
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
    test(`can't reformat a genuine event ${how}`, () =>
      refused({ body, signature: signBody(genuine, secretOf(riverside)) }));
  }

  const without: Record<string, unknown> = {
    "an unknown alias": eventOf({ what: "created", id, at: began, orgAlias: "nobodys-clinic" }),
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
    test(`gets the same error for ${what} as for a wrong signature`, () => refused({ body }));
  }

  test("changes nothing by replaying recorded events with any id at any time", async () => {
    const cancelled = { body: JSON.stringify(news), deliveryId: "the second" };
    assert.deepEqual(await send(ehr.url, cancelled), { status: 200, message: "applied" });
    const earlier = await readAllRows(ownerUrl);
    for (const body of [genuine, cancelled.body]) {
      for (const deliveryId of ["the first", "the second", "the third", randomUUID()]) {
        assert.equal((await send(ehr.url, { body, deliveryId })).status, 200);
      }
    }
    assert.deepEqual(await readAllRows(ownerUrl), earlier);
    assert.equal((await readInstallationRows(ownerUrl))[0]?.status, "removed");
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
    await storeApps(ownerUrl, ["northwind-scribe"]);
    ehr = await startEhr(cleanUp, database.serviceUrl);
    const body = eventOf({ what: "created", id: theirs, at: began, orgAlias: hilltop });
    assert.equal((await send(ehr.url, { body, secret: secretOf(hilltop), deliveryId: "of hilltop" })).status, 200);
  });
  const ofHilltop = async (): Promise<unknown[]> =>
    JSON.parse(JSON.stringify(await readAllRows(ownerUrl)), (_key, value: unknown) =>
      Array.isArray(value) ? value.filter((row) => !isOf(row, riverside)) : value,
    ) as unknown[];
  const isOf = (row: unknown, alias: string): boolean =>
    typeof row === "object" && row !== null && (row as { org_alias?: string }).org_alias === alias;

  test("can't send events of another organisation", async () => {
    const body = eventOf({ what: "cancelled", id: theirs, at: began + 1, orgAlias: hilltop });
    assert.deepEqual(await send(ehr.url, { body, secret: secretOf(riverside) }), refusal);
  });

  test("can't name two organisations: the verified alias is the applied one", async () => {
    const event = JSON.stringify(eventOf({ what: "cancelled", id: theirs, at: began + 2, orgAlias: hilltop }));
    const twice = event.replace('"orgAlias":', `"orgAlias":"${riverside}","orgAlias":`);
    assert.deepEqual(await send(ehr.url, { body: twice, secret: secretOf(riverside) }), refusal);
    const earlier = await ofHilltop();
    const other = event.replace(`"orgAlias":"${hilltop}"`, `"orgAlias":"${hilltop}","orgAlias":"${riverside}"`);
    assert.equal((await send(ehr.url, { body: other, secret: secretOf(riverside) })).status, 200);
    assert.deepEqual(await ofHilltop(), earlier);
  });

  test("can't change another organisation, neither by its subscriptions nor by its deliveries' ids", async () => {
    const earlier = await ofHilltop();
    const event = fc.record({
      what: fc.constantFrom("created", "paused", "resumed", "cancelled"),
      id: fc.constantFrom(theirs, randomUUID()),
      at: fc.integer({ min: began - 5, max: began + 60_000 }),
      app: fc.constant("northwind-scribe"),
    });
    const deliveryId = fc.constantFrom("of hilltop", "of nobody");
    await fc.assert(
      fc.asyncProperty(event, deliveryId, async (input, id) => {
        const body: SubscriptionEvent = eventOf({ ...(input as Parameters<typeof eventOf>[0]), orgAlias: riverside });
        assert.equal((await send(ehr.url, { body, deliveryId: id })).status, 200);
        assert.deepEqual(await ofHilltop(), earlier);
      }),
      { numRuns: 30 },
    );
  });
});

describe("refused signatures", () => {
  const cleanUp = cleanUpAfter();

  test("are the only requests that count toward the rate limit", async () => {
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
    const response = await fetch(`${ehr.url}/api/internal/marketplace-webhook`, {
      method: "POST",
      ...from("192.0.2.1"),
    });
    assert.ok(Number(response.headers.get("retry-after")) > 0);
    assert.equal(response.headers.get("ratelimit-limit"), "5");
  });

  test("don't prevent valid ones from the same address, even thousands of them", async () => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    await storeApps(ownerUrl, ["northwind-scribe"]);
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
    // Concurrent requests are all verified before the first one is counted; each minute has its own limit.
    assert.ok(bad.filter((status) => status === 429).length > bad.length / 2, `${bad.length}`);
  });
});
