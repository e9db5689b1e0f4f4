import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import { checkTarget } from "@ehr-marketplace/outbound-http";
import { rounds } from "@ehr-marketplace/test-kit";
import { anyNetworks, policyAllows } from "@ehr-marketplace/test-kit/address-policy";
import { anyUrl } from "@ehr-marketplace/test-kit/any-url";
import fc from "fast-check";
import { findCallbackError } from "../organisations/organisation.ts";
import { findUrlError } from "./endpoint.ts";

const runs = { numRuns: rounds(1_000, 10_000) };
const unusedResolver = (): never => assert.fail("an address needs no resolver");

/** Whether the request schemas let it pass: they ask for the format `uri`. */
const isUri = (text: string): boolean => /^[!-[\]-~]+$/.test(text);

for (const [what, findError] of [
  ["an endpoint", findUrlError],
  ["a callback", findCallbackError],
] as const) {
  test(`a URL that is accepted as ${what} is one that requests can go to, and no other host than its text shows`, async () => {
    const counts = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(anyUrl, anyNetworks, async (text, networks) => {
        if (findError(text, networks) !== undefined) {
          counts.refused += 1;
          return;
        }
        counts.accepted += 1;
        const { hostname, username, password } = new URL(text);
        assert.deepEqual([username, password], ["", ""]);
        if (isUri(text)) assert.match(text, /^https?:\/\/[^/@#]+(?:[/?]|$)/, "userinfo and fragments are refused");
        const literal = hostname.replace(/^\[(.*)\]$/, "$1");
        if (isIP(literal) === 0) return;
        assert.equal(policyAllows(literal, networks), true, literal);
        assert.equal(await checkTarget(text, networks, unusedResolver), undefined);
      }),
      runs,
    );
    assert.ok(counts.accepted > 50 && counts.refused > 50, JSON.stringify(counts));
  });
}
