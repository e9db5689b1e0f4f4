import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eventually } from "@ehr-marketplace/tests/support";
import { newKey, type SigningKey, seconds, signed, startedWith } from "./issuer.test-support.ts";
import { TokenRefusedError, type Tokens } from "./verify-token.ts";

let first: SigningKey;
let second: SigningKey;
before(async () => {
  first = await newKey("first");
  second = await newKey("second");
});

async function isRefused(tokens: Tokens, token: string): Promise<boolean> {
  try {
    await tokens.verify(token);
    return false;
  } catch (error) {
    if (error instanceof TokenRefusedError) return true;
    throw error;
  }
}

describe("a token that was verified before", () => {
  test("is the same caller again, without another look at its signature", async (t) => {
    const { tokens } = await startedWith(t, first);
    const token = await signed(first, { roles: ["operator"] });
    assert.equal(await tokens.verify(token), await tokens.verify(token));
  });

  test("is refused once it has expired, to the second", async (t) => {
    const { tokens } = await startedWith(t, first);
    const token = await signed(first, { exp: seconds() + 60 });
    await tokens.verify(token);
    t.mock.timers.tick(89_000);
    assert.equal(await isRefused(tokens, token), false);
    t.mock.timers.tick(1_000);
    await assert.rejects(tokens.verify(token), { name: "TokenRefusedError", message: "It has expired." });
  });

  test("is refused as soon as its issuer's keys come without the one that signed it", async (t) => {
    const { issuer, tokens } = await startedWith(t, first);
    const token = await signed(first, { exp: seconds() + 3_600 });
    await tokens.verify(token);
    issuer.publish(second);
    t.mock.timers.tick(300_000);
    await eventually("it is refused", 5_000, () => isRefused(tokens, token));
  });

  test("lends nothing to one that differs in a single letter", async (t) => {
    const { tokens } = await startedWith(t, first);
    const token = await signed(first);
    await tokens.verify(token);
    for (const place of [token.indexOf(".") + 5, token.lastIndexOf(".") + 5]) {
      const other = token[place] === "A" ? "B" : "A";
      assert.equal(await isRefused(tokens, `${token.slice(0, place)}${other}${token.slice(place + 1)}`), true);
    }
  });
});
