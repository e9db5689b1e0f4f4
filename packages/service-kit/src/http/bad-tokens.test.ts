import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Agent, get } from "node:http";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually, rounds } from "@ehr-marketplace/test-kit";
import {
  audience,
  createKey,
  issuerName,
  type SigningKey,
  seconds,
  signToken,
  startIssuer,
  startVerifier,
} from "../tokens/issuer.test-support.ts";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const limit = 600;
const sent = rounds(2_000, 10_000);
const atOnce = 50;

describe("an address above the limit of invalid tokens", () => {
  const cleanUp = cleanUpAfter();
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * atOnce });
  let running: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let key: SigningKey;
  before(async () => {
    key = await createKey("published");
    issuer = await startIssuer(cleanUp, key);
    const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
    running = await startTestServer(cleanUp, {
      closed: true,
      access: { tokens, requestsPerMinute: 1_000_000, requestsAtOnce: 1_000, refusedTokensPerMinute: limit },
      routes: (server) => {
        server.get("/closed", { config: { access: ["operator"] } }, () => ({}));
      },
    });
    cleanUp(async () => agent.destroy());
  });
  const statusOf = (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      get(`${running.url}/closed`, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      }).on("error", reject);
    });
  const operator = (nth: number): Promise<string> => signToken(key, { roles: ["operator"], sub: `operator-${nth}` });
  /** An invalid token: with an invented signature, an unknown key, an expiry in the past, or no token at all. */
  const badToken = (nth: number): string => {
    const payload = { iss: issuerName, aud: audience, sub: `nobody-${nth}`, exp: seconds() + 300, roles: ["operator"] };
    const kid = nth % 4 === 1 ? `unknown-${nth}` : key.kid;
    const parts = [{ alg: key.alg, kid }, nth % 4 === 2 ? { ...payload, exp: 1 } : payload];
    if (nth % 4 === 3) return `${nth}.nothing.like-a-token`;
    return [...parts.map((part) => Buffer.from(JSON.stringify(part))), randomBytes(64)]
      .map((part) => part.toString("base64url"))
      .join(".");
  };

  test("gets 429 for invalid tokens, while known and new valid tokens from it are accepted", async () => {
    const known = await operator(0);
    assert.equal(await statusOf(known), 200);
    const statuses = new Map<number, number>();
    const good: number[] = [];
    for (let nth = 0; nth < sent; nth += atOnce) {
      const fresh = await operator(nth + 1);
      const responded = Array.from({ length: atOnce }, async (_, index) => {
        const status = await statusOf(badToken(nth + index));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      good.push(...(await Promise.all([statusOf(fresh), statusOf(known)])));
      await Promise.all(responded);
    }
    assert.deepEqual(new Set(good), new Set([200]));
    assert.deepEqual(new Set(statuses.keys()), new Set([401, 429]));
    // On a slow machine the requests may take more than a minute, and the limit applies per minute.
    assert.ok((statuses.get(429) ?? 0) > sent / 2, JSON.stringify([...statuses]));
  });

  test("is served with a new key of the issuer once the key has been fetched", async () => {
    const next = await createKey("next");
    issuer.publish(key, next);
    const token = await signToken(next, { roles: ["operator"] });
    await eventually("the new key is known", 20_000, async () => (await statusOf(token)) === 200);
  });

  test("gets a response to each of hundreds of concurrent requests, and a new valid token is accepted afterwards", async () => {
    const statuses = await Promise.all(Array.from({ length: 500 }, (_, nth) => statusOf(badToken(4 * nth))));
    assert.ok(statuses.includes(429) && statuses.every((status) => status === 429 || status === 401));
    assert.equal(await statusOf(await operator(-1)), 200);
  });
});
