import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { createAppReader } from "../apps/read-app.ts";
import { appCalled } from "../marketplace-events/events.test-support.ts";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";
import { createSubscriptionList, type ListSubscriptions } from "./marketplace-subscriptions.ts";
import { createMarketplaceToken, type MarketplaceCredentials } from "./marketplace-token.ts";

const subscription = (orgAlias = "riverside-clinic"): SubscriptionDto => ({
  id: randomUUID(),
  appId: randomUUID(),
  appSlug: "northwind-scribe",
  orgAlias,
  pricingPlanId: randomUUID(),
  quantity: null,
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
  /** How the stand-in answers the list; it stands for marketplaces that misbehave as ours doesn't. */
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let asked: { url: string; authorization: string | undefined }[] = [];
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
    const server = createServer((request, response) => {
      if (request.url === "/token") {
        void giveToken(request, response);
        return;
      }
      asked.push({ url: request.url ?? "", authorization: request.headers.authorization });
      answer(request, response);
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
    list = createSubscriptionList(
      `${url}/api/v1`,
      createMarketplaceToken(credentials, () => new Date(now)),
      createAppReader({ allowsHttp: false }),
    );
    [asked, tokens, tokenLives, tokenRequests, refusal] = [[], 0, 3_600, [], undefined];
  };
  const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

  test("is followed from page to page, by its cursor and never elsewhere", async () => {
    start();
    const all = [subscription(), subscription(), subscription()];
    answer = (request, response) => {
      const after = new URL(request.url ?? "", url).searchParams.get("after");
      const nth = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const next = `<http://elsewhere.example/steal?after=${all[nth]?.id}>; rel="next"`;
      json(response, [all[nth]], nth < 2 ? { link: next } : {});
    };
    assert.deepEqual(await list("riverside-clinic"), all);
    assert.deepEqual(
      asked.map((each) => [each.url, each.authorization]),
      [
        ["/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=200", "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=200&after=${all[0]?.id}`, "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&expand=app&limit=200&after=${all[1]?.id}`, "Bearer token-1"],
      ],
    );
  });

  test("is not followed for ever", async () => {
    start();
    answer = (_request, response) => json(response, [], { link: `</x?after=${randomUUID()}>; rel="next"` });
    await assert.rejects(list("riverside-clinic"), MarketplaceRefusesError);
    assert.equal(asked.length, 500);
  });

  test("fields that nobody knows are ignored", async () => {
    start();
    answer = (_request, response) => json(response, [{ ...subscription(), region: "north" }]);
    assert.equal((await list("riverside-clinic")).length, 1);
  });

  test("has each subscription's app, but none that can't be used: that one is left out, and the subscription stays", async () => {
    start();
    const app = appCalled("northwind-scribe");
    const unusable = [
      { ...app, slug: "cuffline" },
      { ...app, smartLaunchUrl: "http://127.0.0.1:8080/launch" },
      { ...app, iconUrl: "javascript:alert(1)" },
      "northwind-scribe",
      null,
    ];
    answer = (_request, response) =>
      json(
        response,
        [app, ...unusable].map((each) => ({ ...subscription(), app: each })),
      );
    const listed = await list("riverside-clinic");
    assert.deepEqual(
      listed.map((each) => each.app),
      [app, ...unusable.map(() => undefined)],
    );
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
    test(`that is refused names the token, the organisation and ${what}`, async () => {
      start();
      answer = (_request, response) => response.writeHead(status).end(body);
      const advice = "check that the token has the role ehr-service and names the organisation";
      const expected = `the marketplace refuses this service's token for riverside-clinic ${message}; ${advice}`;
      await assert.rejects(list("riverside-clinic"), new MarketplaceRefusesError(expected));
    });
  }

  test("that can't be asked for says the status and the problem", async () => {
    start();
    answer = (_request, response) => response.writeHead(422).end('{"detail":"It is not registered."}');
    const expected = "the marketplace refuses to list subscriptions of riverside-clinic (422: It is not registered)";
    await assert.rejects(list("riverside-clinic"), new MarketplaceRefusesError(expected));
  });

  const bad: Record<string, (response: ServerResponse) => void> = {
    "of another organisation": (response) => json(response, [subscription(), subscription("hilltop-family-practice")]),
    "that is none": (response) => json(response, { items: [] }),
    "with a subscription that is none": (response) => json(response, [{ id: 7 }]),
    "that isn't JSON": (response) => response.writeHead(200).end("<html>"),
    "that is refused": (response) => response.writeHead(403).end(),
  };
  for (const [what, respond] of Object.entries(bad)) {
    test(`one ${what} is not used, and not asked for again`, async () => {
      start();
      answer = (_request, response) => respond(response);
      await assert.rejects(list("riverside-clinic"), MarketplaceRefusesError);
      assert.equal(asked.length, 1);
    });
  }

  const away: Record<string, (response: ServerResponse) => void> = {
    "is answered 500": (response) => response.writeHead(500).end(),
    "is answered 503": (response) => response.writeHead(503).end(),
    "is answered 429": (response) => response.writeHead(429).end(),
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
  for (const [what, respond] of Object.entries(away)) {
    test(`one that ${what} may be asked for later`, async () => {
      start();
      answer = (_request, response) => respond(response);
      await assert.rejects(list("riverside-clinic"), MarketplaceAwayError);
    });
  }

  test("a token is kept until it is about to end, and asked for once by many at once", async () => {
    start();
    tokenLives = 120;
    answer = (_request, response) => json(response, []);
    await Promise.all(Array.from({ length: 10 }, () => list("riverside-clinic")));
    assert.equal(tokens, 1);
    now += 59_000;
    await list("riverside-clinic");
    assert.equal(tokens, 1);
    now += 2_000;
    await list("riverside-clinic");
    assert.equal(tokens, 2);
  });

  test("the identity provider is told what it wants to be told beside", async () => {
    start("audience=https://marketplace.example.com/api&scope=organization:*");
    answer = (_request, response) => json(response, []);
    await list("riverside-clinic");
    await list("hilltop-family-practice");
    assert.deepEqual(tokenRequests, [
      "audience=https%3A%2F%2Fmarketplace.example.com%2Fapi&scope=organization%3A*&grant_type=client_credentials",
    ]);
  });

  test("where a token names one organisation, each has its own, and the marketplace sees no other", async () => {
    start("scope=organization:{orgAlias}");
    answer = (_request, response) => json(response, []);
    const aliases = ["riverside-clinic", "hilltop-family-practice"];
    await Promise.all([...aliases, ...aliases].map((alias) => list(alias)));
    assert.deepEqual(
      tokenRequests.map((each) => new URLSearchParams(each).get("scope")),
      aliases.map((alias) => `organization:${alias}`),
    );
    const bearers = asked.map(
      (each) => `${new URL(each.url, url).searchParams.get("orgAlias")}: ${each.authorization}`,
    );
    assert.equal(new Set(bearers).size, 2, String(bearers));
  });

  test("however many organisations there are, a hundred tokens are held", async () => {
    start("scope=organization:{orgAlias}");
    answer = (_request, response) => json(response, []);
    for (let nth = 0; nth < 101; nth += 1) await list(`practice-${nth}`);
    await list("practice-100");
    assert.equal(tokens, 101);
    await list("practice-0");
    assert.equal(tokens, 102);
  });

  const noToken: [number, string, typeof MarketplaceAwayError | typeof MarketplaceRefusesError][] = [
    [400, "invalid_scope", MarketplaceRefusesError],
    [403, "access_denied", MarketplaceRefusesError],
    [401, "invalid_client", MarketplaceAwayError],
    [503, "temporarily_unavailable", MarketplaceAwayError],
  ];
  for (const [status, error, failure] of noToken) {
    const later = failure === MarketplaceAwayError ? "for all organisations, until later" : "for one organisation";
    test(`an identity provider that says ${error} gives no token ${later}`, async () => {
      start();
      refusal = { status, error };
      await assert.rejects(list("riverside-clinic"), failure);
      assert.equal(asked.length, 0);
    });
  }

  test("a token that is refused is replaced once", async () => {
    start();
    answer = (request, response) => {
      if (request.headers.authorization === "Bearer token-1") response.writeHead(401).end();
      else json(response, []);
    };
    assert.deepEqual(await list("riverside-clinic"), []);
    assert.equal(tokens, 2);
    answer = (_request, response) => response.writeHead(401).end();
    await assert.rejects(list("riverside-clinic"), MarketplaceRefusesError);
  });

  test("nothing is sent in the clear unless that is allowed", async () => {
    start();
    const token = createMarketplaceToken(credentialsWith({ plainHttp: false }), () => new Date(now));
    await assert.rejects(token.get("riverside-clinic"), MarketplaceAwayError);
    assert.equal(tokens, 0);
  });
});
