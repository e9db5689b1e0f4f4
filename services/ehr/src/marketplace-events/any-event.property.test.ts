import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, describe, test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, rounds, timeLimitMs, withClient } from "@ehr-marketplace/test-kit";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import fc from "fast-check";
import { eventOf, hilltop, riverside, secretOf, storeApps } from "./events.test-support.ts";

const runs = rounds(300, 10_000);
const maxBodyBytes = 65_536;
const now = Date.now();

const subscriptionId = fc.nat(40).map((nth) => `01890a5d-ac96-774b-bcce-${String(nth).padStart(12, "0")}`);
const genuine = fc
  .record({
    what: fc.constantFrom("created" as const, "paused" as const, "resumed" as const, "cancelled" as const),
    id: subscriptionId,
    at: fc.integer({ min: now - 3_600_000, max: now + 600_000 }),
    app: fc.constantFrom("known-app", "other-app", "unknown-app"),
    orgAlias: fc.constantFrom(riverside, riverside, hilltop, hilltop, "nobodys-clinic"),
  })
  .map(eventOf);

const oddTimes = [
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999999Z",
  "2016-12-31T23:59:60Z",
  "2026-02-30T00:00:00Z",
];
const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    ...oddTimes,
    "2026-01-01T00:00:00+02:00",
    "-271821-04-20T00:00:00Z",
    now,
    "",
    "\0",
    "a\0",
    null,
  ),
  fc.constantFrom<unknown>(
    "subscription.created",
    "subscription.paused",
    "app.updated",
    "ping",
    "active",
    "cancelled",
    "toString",
  ),
  fc.constantFrom<unknown>(
    "A".repeat(65),
    "known-app",
    "Known-App",
    "a-".repeat(40),
    "{01890a5d-ac96-774b-bcce-b302099a8057}",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constant([[[]]]),
);
const fields = [
  "event",
  "app",
  "subscription",
  "timestamp",
  "app/slug",
  "subscription/id",
  "subscription/status",
  "more",
];
/** An event with some fields replaced or left out, except the alias. */
const odd = fc
  .tuple(
    genuine,
    fc.array(fc.tuple(fc.constantFrom(...fields), fc.option(oddValue, { nil: undefined })), {
      minLength: 1,
      maxLength: 2,
    }),
  )
  .map(([event, changes]) => {
    const changed = structuredClone(event) as unknown as Record<string, unknown>;
    for (const [path, value] of changes) {
      const [name = "", inner] = path.split("/");
      const outer = changed[name];
      if (inner === undefined) changed[name] = value;
      else if (typeof outer === "object" && outer !== null) (outer as Record<string, unknown>)[inner] = value;
    }
    return changed;
  });
const text = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(genuine, odd).map((event) => JSON.stringify(event)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(genuine, fc.constantFrom("x", "[", '"', "\0", "é"), fc.integer({ min: 1, max: maxBodyBytes }))
      .map(([event, filling, count]) => `${JSON.stringify(event)}${filling.repeat(count)}`),
  },
);
const bytes = fc.oneof(
  { weight: 8, arbitrary: text.map((each) => Buffer.from(each)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each)) },
  {
    weight: 1,
    arbitrary: fc.tuple(text, fc.nat(), fc.nat(255)).map(([each, at, byte]) => {
      const changed = Buffer.from(each);
      if (changed.length > 0) changed[at % changed.length] = byte;
      return changed;
    }),
  },
);

const hmacOf = (body: Buffer, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");
/** Text that an HTTP parser accepts in a header. */
const headerText = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff })), { maxLength: 70 })
  .map((codes) => String.fromCharCode(...codes));

const signAsNamed = (body: Buffer): string => hmacOf(body, secretOf(body.includes(hilltop) ? hilltop : riverside));
type Forge = (body: Buffer, other: Buffer) => string | string[] | undefined;
const signature = fc.oneof<fc.Arbitrary<Forge>[]>(
  fc.constantFrom<Forge>(
    (body) => hmacOf(body, secretOf(hilltop)),
    (_body, other) => hmacOf(other, secretOf(riverside)),
    (body) => hmacOf(body, ""),
    (body) => hmacOf(body, "a secret of nobody at all"),
    (body) => hmacOf(body, secretOf(riverside)).toUpperCase(),
    (body) => hmacOf(body, secretOf(riverside)).slice(0, 63),
    (body) => `${hmacOf(body, secretOf(riverside))} `.repeat(2),
    (body) => [hmacOf(body, secretOf(riverside)), hmacOf(body, secretOf(hilltop))],
    () => undefined,
  ),
  headerText.map(
    (given): Forge =>
      () =>
        given,
  ),
);

interface Sent {
  body: Buffer;
  signature: string | string[] | undefined;
  deliveryId: string | undefined;
  headers: Record<string, string>;
}
const sent: fc.Arbitrary<Sent> = fc
  .record({
    body: bytes,
    other: bytes,
    forge: fc.oneof({ weight: 3, arbitrary: fc.constant<Forge>(signAsNamed) }, { weight: 1, arbitrary: signature }),
    deliveryId: fc.oneof(fc.uuid(), headerText, fc.constantFrom(undefined, "", "x".repeat(255), "x".repeat(256))),
    contentType: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("application/json", "application/json; charset=utf-8") },
      {
        weight: 1,
        arbitrary: fc.oneof(headerText, fc.constantFrom("text/plain", "application/jsonx", "application/json;", "")),
      },
    ),
    more: fc.dictionary(
      fc.constantFrom("x-marketplace-event", "x-request-id", "accept", "x-org-alias", "authorization"),
      headerText,
      { maxKeys: 2 },
    ),
  })
  .map(({ body, other, forge, deliveryId, contentType, more }) => ({
    body,
    signature: forge(body, other),
    deliveryId,
    headers: { ...more, "content-type": contentType },
  }));

/** The organisation that signed the bytes, if the body names it. */
function signerOf({ body, signature: given }: Sent): string | undefined {
  let named: unknown;
  try {
    named = (JSON.parse(body.toString("utf8")) as { subscription?: { orgAlias?: unknown } } | null)?.subscription
      ?.orgAlias;
  } catch {
    return undefined;
  }
  const organisation = demoOrganisations.find(({ alias }) => alias === named);
  return organisation !== undefined && given === hmacOf(body, organisation.secret) ? organisation.alias : undefined;
}

type Owner = Parameters<Parameters<typeof withClient>[1]>[0];

describe("any request to the receiver of events", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    await storeApps(ownerUrl, ["known-app", "other-app"]);
    ehr = await startEhr(cleanUp, database.serviceUrl);
  });

  /** All rows that an event can change by organisation, and the shared apps. */
  async function storedOf(owner: Owner): Promise<Map<string, string>> {
    const { rows } = await owner.query<{ alias: string; stored: string }>(
      `
      select alias, md5(concat(
        (select string_agg(s::text, '|' order by s.id) from subscriptions s where s.org_alias = alias),
        (select string_agg(i::text, '|' order by i.id) from installations i where i.org_alias = alias),
        (select concat(count(*), max(applied_at)) from applied_deliveries d where d.org_alias = alias)
      )) as stored from organisations where alias = any($1)
      union all select 'apps', string_agg(slug, ' ' order by slug) from apps`,
      [[riverside, hilltop]],
    );
    return new Map(rows.map(({ alias, stored }) => [alias, stored]));
  }

  test(
    "the response is a documented one, and nothing is stored but an organisation's own signed events",
    {
      timeout: timeLimitMs(runs, 0.05),
    },
    () =>
      withClient(ownerUrl, async (owner) => {
        const seen = new Map<string, number>();
        let earlier = await storedOf(owner);
        await fc.assert(
          fc.asyncProperty(sent, async (each) => {
            const { body: payload, deliveryId, headers } = each;
            const response = await ehr.server.inject({
              method: "POST",
              url: "/api/internal/marketplace-webhook",
              payload,
              headers: {
                ...headers,
                ...(each.signature === undefined ? {} : { "x-marketplace-signature": each.signature }),
                ...(deliveryId === undefined ? {} : { "x-marketplace-delivery-id": deliveryId }),
              },
            });
            const { statusCode: status } = response;
            const { success, message, data } = response.json<{ success: boolean; message: string; data: null }>();
            assert.deepEqual([success, typeof message, data], [status === 200, "string", null]);
            const signer = signerOf(each);
            const allowed = signer === undefined ? [401, 413, 415] : [200, 400, 413, 415, 422];
            assert.ok(allowed.includes(status), `${status} ${message}`);
            if (status === 413) assert.ok(payload.length > maxBodyBytes);

            const stored = await storedOf(owner);
            const isApplied = status === 200 && message === "applied";
            for (const [name, state] of earlier) {
              if (isApplied && name === signer) assert.notEqual(stored.get(name), state, "what is applied is stored");
              else if (!isApplied || name !== "apps")
                assert.equal(stored.get(name), state, `${status} ${message} changes ${name}`);
            }
            earlier = stored;
            const kind = status === 200 ? `200 ${message}` : String(status);
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
          }),
          { numRuns: runs },
        );
        for (const kind of ["200 applied", "400", "401", "415"])
          assert.ok((seen.get(kind) ?? 0) > 5, `${kind}: ${JSON.stringify([...seen])}`);
      }),
  );
});
