import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eventually } from "@ehr-marketplace/test-kit";
import { createKey, type SigningKey, seconds, signToken, startVerifierWithKeys } from "./issuer.test-support.ts";
import { TokenRefusedError, type TokenVerifier } from "./token-verifier.ts";

let first: SigningKey;
let second: SigningKey;
before(async () => {
  first = await createKey("first");
  second = await createKey("second");
});

async function isRefused(tokens: TokenVerifier, token: string): Promise<boolean> {
  try {
    await tokens.verify(token);
    return false;
  } catch (error) {
    if (error instanceof TokenRefusedError) return true;
    throw error;
  }
}

describe("a token that was verified before", () => {
  test("returns the same caller without verifying the signature again", async (t) => {
    const { tokens } = await startVerifierWithKeys(t, first);
    const token = await signToken(first, { roles: ["operator"] });
    assert.equal(await tokens.verify(token), await tokens.verify(token));
  });

  test("is refused once it has expired, to the second", async (t) => {
    const { tokens } = await startVerifierWithKeys(t, first);
    const token = await signToken(first, { exp: seconds() + 60 });
    await tokens.verify(token);
    t.mock.timers.tick(89_000);
    assert.equal(await isRefused(tokens, token), false);
    t.mock.timers.tick(1_000);
    await assert.rejects(tokens.verify(token), { name: "TokenRefusedError", message: "It has expired." });
  });

  test("is refused once its key is no longer published", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    const token = await signToken(first, { exp: seconds() + 3_600 });
    await tokens.verify(token);
    issuer.publish(second);
    t.mock.timers.tick(300_000);
    await eventually("it is refused", 30_000, () => isRefused(tokens, token));
  });

  test("doesn't validate a token that differs in one character", async (t) => {
    const { tokens } = await startVerifierWithKeys(t, first);
    const token = await signToken(first);
    await tokens.verify(token);
    for (const place of [token.indexOf(".") + 5, token.lastIndexOf(".") + 5]) {
      const other = token[place] === "A" ? "B" : "A";
      assert.equal(await isRefused(tokens, `${token.slice(0, place)}${other}${token.slice(place + 1)}`), true);
    }
  });
});
