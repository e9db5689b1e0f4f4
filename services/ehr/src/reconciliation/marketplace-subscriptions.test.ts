import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { listingDraft, receivedSubscription, type SubscriptionState } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createAppParser } from "../apps/parse-app.ts";
import { buildApp } from "../marketplace-events/events.test-support.ts";
import { createSubscriptionLister, type ListSubscriptions } from "./marketplace-subscriptions.ts";
import { createMarketplaceTokens, type MarketplaceCredentials } from "./marketplace-tokens.ts";
import { MarketplaceRefusalError, MarketplaceUnavailableError } from "./reconciliation-errors.ts";

const subscription = (orgAlias = "riverside-clinic"): SubscriptionState => ({
  id: randomUUID(),
  appId: randomUUID(),
  appSlug: "northwind-scribe",
  orgAlias,
  pricingPlanId: randomUUID(),
  quantity: null,
  fhirScopes: "launch user/Patient.rs",
  pendingScopes: "",
  status: "active",
  pauseReason: null,
  trialEndsAt: null,
  createdAt: "2026-03-18T09:30:00.000Z",
  updatedAt: "2026-03-18T09:30:00.000Z",
  pausedAt: null,
  cancelledAt: null,
});

describe("the marketplace's list of subscriptions", () => {
  const cleanUp = cleanUpAfter();
  let url: string;
  let list: ListSubscriptions;
  /** The stub's response to the list, for errors that our marketplace doesn't make. */
  let respondToList: (request: IncomingMessage, response: ServerResponse) => void;
  let requests: { url: string; authorization: string | undefined }[] = [];
  let tokens = 0;
  let tokenRequests: string[] = [];
  let refusal: { status: number; error: string } | undefined;
  let tokenLives = 3_600;
  let now = Date.now();

  before(async () => {
    const giveToken = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      tokenRequests.push(await text(request));
      if (refusal === undefined) tokens += 1;
      response.writeHead(refusal?.status ?? 200, { "content-type": "application/json" });
      const given = { access_token: `token-${tokens}`, token_type: "Bearer", expires_in: tokenLives };
      response.end(JSON.stringify(refusal === undefined ? given : { error: refusal.error }));
    };
    // On a busy machine, a client may use a connection again just when its server closes it.
    const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      if (request.url === "/token") {
        void giveToken(request, response);
        return;
      }
      requests.push({ url: request.url ?? "", authorization: request.headers.authorization });
      respondToList(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.closeAllConnections();
      server.close();
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  const credentialsWith = (changes: Partial<MarketplaceCredentials>): MarketplaceCredentials => ({
    tokenUrl: `${url}/token`,
    clientId: "ehr",
    clientSecret: "secret",
    parameters: "",
    plainHttp: true,
    ...changes,
  });
  const start = (parameters = ""): void => {
    const credentials = credentialsWith({ parameters });
    list = createSubscriptionLister(
      `${url}/api/v1`,
      createMarketplaceTokens(credentials, () => new Date(now)),
      createAppParser({ allowsHttp: false }),
    );
    [requests, tokens, tokenLives, tokenRequests, refusal] = [[], 0, 3_600, [], undefined];
  };
  const json = (response: ServerResponse, body: unknown, headers: Record<string, string | undefined> = {}): void => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

  test("is read page by page with its cursor, and never from another host; a malformed epoch counts as none", async () => {
    start();
    const epochsOfPages = ["0123456789abcdef.1.18446744073709551615", "0123456789abcdef.1", ""];
    const all = [subscription(), subscription(), subscription()];
    respondToList = (request, response) => {
      const after = new URL(request.url ?? "", url).searchParams.get("after");
      const nth = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const next = `<http://elsewhere.example/steal?after=${all[nth]?.id}>; rel="next"`;
      json(response, [all[nth]], { ...(nth < 2 ? { link: next } : {}), "x-marketplace-epoch": epochsOfPages[nth] });
    };
    const epochs = [{ system: "0123456789abcdef", timeline: 1, position: 18_446_744_073_709_551_615n }];
    assert.deepEqual(await list("riverside-clinic"), { subscriptions: all, skipped: [], epochs });
    assert.deepEqual(
      requests.map((each) => [each.url, each.authorization]),
      [
        ["/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=32", "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=32&after=${all[0]?.id}`, "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=32&after=${all[1]?.id}`, "Bearer token-1"],
      ],
    );
  });

  test("is limited to 3,200 pages", async () => {
    start();
    respondToList = (_request, response) => json(response, [], { link: `</x?after=${randomUUID()}>; rel="next"` });
    await assert.rejects(list("riverside-clinic"), MarketplaceRefusalError);
    assert.equal(requests.length, 3_200);
  });

  test("ignores unknown fields", async () => {
    start();
    respondToList = (_request, response) => json(response, [{ ...subscription(), region: "north" }]);
    assert.equal((await list("riverside-clinic")).subscriptions.length, 1);
  });

  test("contains each subscription's app, except invalid ones", async () => {
    start();
    const app = buildApp("northwind-scribe");
    const unusable = [
      { ...app, slug: "cuffline" },
      { ...app, smartLaunchUrl: "http://127.0.0.1:8080/launch" },
      { ...app, iconUrl: "javascript:alert(1)" },
      "northwind-scribe",
      null,
    ];
    respondToList = (_request, response) =>
      json(
        response,
        [app, ...unusable].map((each) => ({ ...subscription(), app: each })),
      );
    const { subscriptions: listed } = await list("riverside-clinic");
    assert.deepEqual(
      listed.map((each) => each.app),
      [app, ...unusable.map(() => undefined)],
    );
  });

  test("skips invalid records, with their ids where they have one, and keeps the others", async () => {
    start();
    const valid = [subscription(), { ...subscription(), quantity: "many", pricingPlanId: 7 }];
    const record = subscription();
    const invalid: [unknown, RegExp][] = [
      [{ ...record, appSlug: "Not A Slug" }, /^\/appSlug/],
      [{ ...record, appSlug: "a".repeat(65) }, /^\/appSlug/],
      [{ ...record, status: "asleep" }, /^\/status/],
      [{ ...record, updatedAt: "yesterday" }, /^\/updatedAt/],
      [{ ...record, updatedAt: "2026-12-31T23:59:60.000Z" }, /^\/updatedAt/],
      [{ ...record, fhirScopes: "x".repeat(40_001) }, /^\/fhirScopes/],
      [{ ...record, fhirScopes: "launch\0" }, /fhirScopes/],
      [{ ...record, orgAlias: null }, /^\/orgAlias/],
    ];
    const unidentified = [7, null, "x", {}, { ...record, id: 7 }, { ...record, id: "7" }];
    respondToList = (_request, response) =>
      json(response, [valid[0], ...invalid.map(([each]) => each), ...unidentified, valid[1]]);
    const { subscriptions, skipped } = await list("riverside-clinic");
    assert.deepEqual(subscriptions, valid);
    for (const [nth, [, reason]] of invalid.entries()) {
      assert.equal(skipped[nth]?.id, record.id);
      assert.match(skipped[nth]?.reason ?? "", reason);
    }
    assert.equal(skipped.length, invalid.length + unidentified.length);
    for (const { id } of skipped.slice(invalid.length)) assert.equal(id, undefined);
  });

  test("an id in upper case is that of the stored subscription", async () => {
    start();
    const { id, ...record } = subscription();
    respondToList = (_request, response) => json(response, [{ ...record, id: id.toUpperCase() }]);
    assert.deepEqual((await list("riverside-clinic")).subscriptions, [{ ...record, id }]);
  });

  test("a page of the largest valid records is read", async () => {
    start();
    const { properties: draft } = listingDraft;
    const { properties: plan } = draft.plans.items;
    const boundOf = (schema: object, name: "maxLength" | "maxItems"): number => {
      const bound = (schema as Record<string, unknown>)[name];
      return typeof bound === "number" ? bound : assert.fail(`no ${name}`);
    };
    /** Each character has six bytes in JSON. */
    const longest = (schema: object): string => "\u0001".repeat(boundOf(schema, "maxLength"));
    const fill = <T>(schema: object, item: T): T[] => Array.from({ length: boundOf(schema, "maxItems") }, () => item);
    const scopes = "x".repeat(boundOf(receivedSubscription.properties.fhirScopes, "maxLength"));
    const longUrl = `https://a.example/${"x".repeat(2_030)}`;
    const price = `${"9".repeat(20)}.${"9".repeat(20)}`;
    const tier = { upTo: Number.MAX_SAFE_INTEGER, unitAmount: price, flatAmount: Number.MAX_SAFE_INTEGER };
    const record = {
      ...subscription(),
      appSlug: "a".repeat(64),
      fhirScopes: scopes,
      pendingScopes: scopes,
      pricingPlan: {
        id: randomUUID(),
        name: longest(plan.name),
        description: longest(plan.description),
        pricingModel: "TIERED",
        currency: "USD",
        amount: price,
        interval: "MONTH",
        trialDays: 365,
        unitName: "\u0001".repeat(100),
        includedUnits: Number.MAX_SAFE_INTEGER,
        tiers: fill(plan.tiers, tier),
        tierMode: "GRADUATED",
        metric: "\u0001".repeat(100),
        aggregation: "LATEST",
        features: fill(plan.features, longest(plan.features.items)),
      },
      app: {
        ...buildApp("a".repeat(64)),
        name: longest(draft.name),
        iconUrl: longUrl,
        smartLaunchUrl: longUrl,
        category: longest(draft.category),
        extensionPoints: fill(draft.extensionPoints, longest(draft.extensionPoints.items)),
        fhirScopes: scopes,
      },
    };
    respondToList = (request, response) => {
      const limit = Number(new URL(request.url ?? "", url).searchParams.get("limit"));
      json(
        response,
        Array.from({ length: limit }, () => record),
      );
    };
    const { subscriptions } = await list("riverside-clinic");
    assert.equal(subscriptions.length, 32);
    assert.equal(subscriptions[0]?.fhirScopes, scopes);
  });

  const long = "x".repeat(150);
  for (const [what, status, body, message] of [
    ["the detail of a problem", 403, '{"detail":"Not for this organisation."}', "(403: Not for this organisation)"],
    ["no word as long as a token", 401, `{"detail":"Bearer ${long}, no"}`, "(401: Bearer … no)"],
    ["a bounded detail", 403, `{"detail":"${"no ".repeat(99)}"}`, `(403: ${"no ".repeat(99).slice(0, 200)}…)`],
    ["no control character", 403, '{"detail":"a\\nb"}', "(403: a b)"],
    ["nothing of a page", 403, "<html>", "(403)"],
    ["nothing of JSON that is no problem", 403, "null", "(403)"],
    ["no detail of another type", 403, '{"detail":{"a":1}}', "(403)"],
  ] as const) {
    test(`an error for a refused token names the token, the organisation and ${what}`, async () => {
      start();
      respondToList = (_request, response) => response.writeHead(status).end(body);
      const advice = "check that the token has the role ehr-service and names the organisation";
      const expected = `the marketplace refuses this service's token for riverside-clinic ${message}; ${advice}`;
      await assert.rejects(list("riverside-clinic"), new MarketplaceRefusalError(expected));
    });
  }

  test("an error for a refused list contains the status and the problem", async () => {
    start();
    respondToList = (_request, response) => response.writeHead(422).end('{"detail":"It is not registered."}');
    const expected = "the marketplace refuses to list subscriptions of riverside-clinic (422: It is not registered)";
    await assert.rejects(list("riverside-clinic"), new MarketplaceRefusalError(expected));
  });

  const bad: Record<string, (response: ServerResponse) => void> = {
    "of another organisation": (response) => json(response, [subscription(), subscription("hilltop-family-practice")]),
    "that is none": (response) => json(response, { items: [] }),
    "that isn't JSON": (response) => response.writeHead(200).end("<html>"),
    "that is refused": (response) => response.writeHead(403).end(),
  };
  for (const [what, respond] of Object.entries(bad)) {
    test(`rejects one ${what} without a retry`, async () => {
      start();
      respondToList = (_request, response) => respond(response);
      await assert.rejects(list("riverside-clinic"), MarketplaceRefusalError);
      assert.equal(requests.length, 1);
    });
  }

  const unavailable: Record<string, (response: ServerResponse) => void> = {
    "returns 500": (response) => response.writeHead(500).end(),
    "returns 503": (response) => response.writeHead(503).end(),
    "returns 429": (response) => response.writeHead(429).end(),
    "leads elsewhere": (response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
    "breaks off": (response) => {
      response.writeHead(200, { "content-length": "1000" }).write("[");
      setImmediate(() => response.destroy());
    },
    "has no end": (response) => {
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write("[".repeat(65_536))) continue;
      };
      response.on("drain", pour);
      pour();
    },
  };
  for (const [what, respond] of Object.entries(unavailable)) {
    test(`counts as unavailable if it ${what}`, async () => {
      start();
      respondToList = (_request, response) => respond(response);
      await assert.rejects(list("riverside-clinic"), MarketplaceUnavailableError);
    });
  }

  test("caches a token until shortly before its expiry, and requests it once for concurrent callers", async () => {
    start();
    tokenLives = 120;
    respondToList = (_request, response) => json(response, []);
    await Promise.all(Array.from({ length: 10 }, () => list("riverside-clinic")));
    assert.equal(tokens, 1);
    // The lifetime that is left when the token arrives is some seconds shorter on a busy machine.
    now += 50_000;
    await list("riverside-clinic");
    assert.equal(tokens, 1);
    now += 11_000;
    await list("riverside-clinic");
    assert.equal(tokens, 2);
  });

  test("sends the configured parameters to the identity provider", async () => {
    start("audience=https://marketplace.example.com/api&scope=organization:*");
    respondToList = (_request, response) => json(response, []);
    await list("riverside-clinic");
    await list("hilltop-family-practice");
    assert.deepEqual(tokenRequests, [
      "audience=https%3A%2F%2Fmarketplace.example.com%2Fapi&scope=organization%3A*&grant_type=client_credentials",
    ]);
  });

  test("uses a token per organisation if the parameters name it", async () => {
    start("scope=organization:{orgAlias}");
    respondToList = (_request, response) => json(response, []);
    const aliases = ["riverside-clinic", "hilltop-family-practice"];
    await Promise.all([...aliases, ...aliases].map((alias) => list(alias)));
    assert.deepEqual(
      tokenRequests.map((each) => new URLSearchParams(each).get("scope")),
      aliases.map((alias) => `organization:${alias}`),
    );
    const bearers = requests.map(
      (each) => `${new URL(each.url, url).searchParams.get("orgAlias")}: ${each.authorization}`,
    );
    assert.equal(new Set(bearers).size, 2, String(bearers));
  });

  test("caches at most 100 tokens", async () => {
    start("scope=organization:{orgAlias}");
    respondToList = (_request, response) => json(response, []);
    for (let nth = 0; nth < 101; nth += 1) await list(`practice-${nth}`);
    await list("practice-100");
    assert.equal(tokens, 101);
    await list("practice-0");
    assert.equal(tokens, 102);
  });

  const noToken: [number, string, typeof MarketplaceUnavailableError | typeof MarketplaceRefusalError][] = [
    [400, "invalid_scope", MarketplaceRefusalError],
    [403, "access_denied", MarketplaceRefusalError],
    [401, "invalid_client", MarketplaceUnavailableError],
    [503, "temporarily_unavailable", MarketplaceUnavailableError],
  ];
  for (const [status, error, failure] of noToken) {
    const later =
      failure === MarketplaceUnavailableError ? "for all organisations, until later" : "for one organisation";
    test(`an identity provider's ${error} is ${later}`, async () => {
      start();
      refusal = { status, error };
      await assert.rejects(list("riverside-clinic"), failure);
      assert.equal(requests.length, 0);
    });
  }

  test("replaces a refused token once", async () => {
    start();
    respondToList = (request, response) => {
      if (request.headers.authorization === "Bearer token-1") response.writeHead(401).end();
      else json(response, []);
    };
    assert.deepEqual(await list("riverside-clinic"), { subscriptions: [], skipped: [], epochs: [] });
    assert.equal(tokens, 2);
    respondToList = (_request, response) => response.writeHead(401).end();
    await assert.rejects(list("riverside-clinic"), MarketplaceRefusalError);
  });

  test("rejects plain http unless it is allowed", async () => {
    start();
    const token = createMarketplaceTokens(credentialsWith({ plainHttp: false }), () => new Date(now));
    await assert.rejects(token.get("riverside-clinic"), MarketplaceUnavailableError);
    assert.equal(tokens, 0);
  });
});
