import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { anyIpv4Number, anyIpv6, anyNetworks, ipv4Of, policyAllows } from "@ehr-marketplace/test-kit/address-policy";
import fc from "fast-check";
import { isAllowedAddress } from "./addresses.ts";

const runs = { numRuns: rounds(1_000, 10_000) };

for (const [family, address] of [
  ["IPv4", anyIpv4Number.map(ipv4Of)],
  ["IPv6", anyIpv6],
] as const) {
  test(`an ${family} address is allowed exactly where an independent implementation of the policy allows it`, () => {
    const counts = { admitted: 0, refused: 0 };
    fc.assert(
      fc.property(address, anyNetworks, (text, networks) => {
        const expected = policyAllows(text, networks);
        assert.equal(isAllowedAddress(text, networks), expected);
        counts[expected ? "admitted" : "refused"] += 1;
      }),
      runs,
    );
    assert.ok(counts.admitted > 50 && counts.refused > 50, JSON.stringify(counts));
  });
}

test("text that is no address is never allowed, and never throws", () => {
  const characters = fc.constantFrom(...Array.from("0123456789abcdefx:.[]%/ \0１。"));
  const almost = fc.array(characters, { maxLength: 20 }).map((all) => all.join(""));
  const changed = fc
    .tuple(fc.oneof(anyIpv4Number.map(ipv4Of), anyIpv6), fc.nat(), fc.oneof(characters, fc.constant("")))
    .map(([text, at, other]) => text.slice(0, at % text.length) + other + text.slice((at % text.length) + 1));
  fc.assert(
    fc.property(fc.oneof(almost, changed, fc.string({ unit: "binary" })), anyNetworks, (text, networks) => {
      if (!isAllowedAddress(text, networks)) return;
      const written = text.includes(":") ? `[${text}]` : text;
      assert.ok(URL.canParse(`http://${written}/`), "whatever is admitted is an address in a URL too");
      assert.equal(policyAllows(text, networks), true);
    }),
    runs,
  );
});
