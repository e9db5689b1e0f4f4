import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";
import { createSubscriptionList, type ListSubscriptions } from "./marketplace-subscriptions.ts";
import { createMarketplaceToken } from "./marketplace-token.ts";

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
  let tokenLives = 3_600;
  let now = Date.now();

  before(async () => {
    const server = createServer((request, response) => {
      if (request.url === "/token") {
        tokens += 1;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ access_token: `token-${tokens}`, token_type: "Bearer", expires_in: tokenLives }));
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
  const start = (): void => {
    const credentials = { tokenUrl: `${url}/token`, clientId: "ehr", clientSecret: "secret", plainHttp: true };
    list = createSubscriptionList(
      `${url}/api/v1`,
      createMarketplaceToken(credentials, () => new Date(now)),
    );
    [asked, tokens, tokenLives] = [[], 0, 3_600];
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
        ["/api/v1/subscriptions?orgAlias=riverside-clinic&limit=1000", "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&limit=1000&after=${all[0]?.id}`, "Bearer token-1"],
        [`/api/v1/subscriptions?orgAlias=riverside-clinic&limit=1000&after=${all[1]?.id}`, "Bearer token-1"],
      ],
    );
  });

  test("is not followed for ever", async () => {
    start();
    answer = (_request, response) => json(response, [], { link: `</x?after=${randomUUID()}>; rel="next"` });
    await assert.rejects(list("riverside-clinic"), MarketplaceRefusesError);
    assert.equal(asked.length, 100);
  });

  test("fields that nobody knows are ignored", async () => {
    start();
    answer = (_request, response) => json(response, [{ ...subscription(), region: "north" }]);
    assert.equal((await list("riverside-clinic")).length, 1);
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
    const credentials = { tokenUrl: `${url}/token`, clientId: "ehr", clientSecret: "secret", plainHttp: false };
    const token = createMarketplaceToken(credentials, () => new Date(now));
    await assert.rejects(token.get(), MarketplaceAwayError);
    assert.equal(tokens, 0);
  });
});
