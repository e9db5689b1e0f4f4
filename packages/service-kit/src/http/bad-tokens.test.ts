import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Agent, get } from "node:http";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import {
  audience,
  issuerName,
  newKey,
  type SigningKey,
  seconds,
  signed,
  startIssuer,
  startVerifier,
} from "../tokens/issuer.test-support.ts";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const limit = 600;
const sent = 10_000;
const atOnce = 50;

describe("an address that sends more bad tokens than are allowed", () => {
  const cleanUp = cleanUpAfter();
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * atOnce });
  let running: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let key: SigningKey;
  before(async () => {
    key = await newKey("published");
    issuer = await startIssuer(cleanUp, key);
    const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
    running = await startTestServer(cleanUp, {
      closed: true,
      access: { tokens, requestsPerMinute: 1_000_000, refusedTokensPerMinute: limit },
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
  const operator = (nth: number): Promise<string> => signed(key, { roles: ["operator"], sub: `operator-${nth}` });
  /** The claims of a good token, with a signature that anyone could invent; or of an unknown key; or expired; or no token at all. */
  const badToken = (nth: number): string => {
    const payload = { iss: issuerName, aud: audience, sub: `nobody-${nth}`, exp: seconds() + 300, roles: ["operator"] };
    const kid = nth % 4 === 1 ? `unknown-${nth}` : key.kid;
    const parts = [{ alg: key.alg, kid }, nth % 4 === 2 ? { ...payload, exp: 1 } : payload];
    if (nth % 4 === 3) return `${nth}.nothing.like-a-token`;
    return [...parts.map((part) => Buffer.from(JSON.stringify(part))), randomBytes(64)]
      .map((part) => part.toString("base64url"))
      .join(".");
  };

  test("is answered 429 for these, while a known and a fresh token from the same address are served", async () => {
    const known = await operator(0);
    assert.equal(await statusOf(known), 200);
    const statuses = new Map<number, number>();
    const good: number[] = [];
    for (let nth = 0; nth < sent; nth += atOnce) {
      const fresh = await operator(nth + 1);
      const answered = Array.from({ length: atOnce }, async (_, index) => {
        const status = await statusOf(badToken(nth + index));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      good.push(...(await Promise.all([statusOf(fresh), statusOf(known)])));
      await Promise.all(answered);
    }
    assert.deepEqual(new Set(good), new Set([200]));
    assert.deepEqual(new Set(statuses.keys()), new Set([401, 429]));
    // A slow machine takes more than a minute for all of them, and each minute has a limit of its own.
    assert.ok((statuses.get(429) ?? 0) > sent / 2, JSON.stringify([...statuses]));
  });

  test("is served with a key that the issuer published meanwhile, once it has been fetched", async () => {
    const next = await newKey("next");
    issuer.publish(key, next);
    const token = await signed(next, { roles: ["operator"] });
    await eventually("the new key is known", 20_000, async () => (await statusOf(token)) === 200);
  });

  test("is answered all the same when it sends hundreds at once, and so is a fresh token afterwards", async () => {
    const statuses = await Promise.all(Array.from({ length: 500 }, (_, nth) => statusOf(badToken(4 * nth))));
    assert.ok(statuses.includes(429) && statuses.every((status) => status === 429 || status === 401));
    assert.equal(await statusOf(await operator(-1)), 200);
  });
});
