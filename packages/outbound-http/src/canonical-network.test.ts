import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { canonicaliseNetwork, isAllowedAddress } from "./addresses.ts";

describe("networks are canonicalised", () => {
  for (const [given, canonical] of [
    ["10.20.0.0/16", "10.20.0.0/16"],
    ["10.20.30.40/16", "10.20.0.0/16"],
    ["10.20.30.40", "10.20.30.40/32"],
    ["10.20.30.40/32", "10.20.30.40/32"],
    ["10.20.30.41/31", "10.20.30.40/31"],
    ["10.20.30.40/0", "0.0.0.0/0"],
    ["10.0.0.0/08", "10.0.0.0/8"],
    ["FD12:3456::1", "fd12:3456::1/128"],
    ["fd12:3456:0:0:0:0:0:1/64", "fd12:3456::/64"],
    ["fd12:3456:789a:bcde::/49", "fd12:3456:789a:8000::/49"],
    ["::/0", "::/0"],
    ["::1", "::1/128"],
    ["fd12::10.0.0.1/128", "fd12::a00:1/128"],
    ["::10.20.30.40", "::a14:1e28/128"],
    ["::ffff:10.20.30.40", "10.20.30.40/32"],
    ["::ffff:10.20.30.40/112", "10.20.0.0/16"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
  ] as const) {
    test(`${given} is ${canonical}`, () => assert.equal(canonicaliseNetwork(given), canonical));
  }
});

for (const given of [
  "",
  " ",
  "/",
  "/8",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "10.0.0.0/255.0.0.0",
  "10.0.0.0 /8",
  "10/8",
  "10.0/16",
  "10",
  "010.0.0.0/8",
  "0x0a.0.0.0/8",
  "10.0.0.256",
  "10.0.0.0.0",
  "10.0.0.0/8\n",
  "10.0.0.0/1e1",
  "fd12::/129",
  "fd12::1%eth0",
  "fd12::%eth0/64",
  "fd12:::/64",
  "[fd12::]/64",
  "g::",
  "example.com",
  "example.com/8",
]) {
  test(`${JSON.stringify(given)} is no network`, () => assert.equal(canonicaliseNetwork(given), undefined));
}

test("the canonical form is stable, and contains the original address", () => {
  const neverAdmitted = (address: string): boolean => !isAllowedAddress(address, ["0.0.0.0/0", "::/0"]);
  const network = fc.oneof(fc.tuple(fc.ipV4(), fc.nat({ max: 32 })), fc.tuple(fc.ipV6(), fc.nat({ max: 128 })));
  fc.assert(
    fc.property(network, ([address, bits]) => {
      // An IPv4-mapped address isn't in a network wider than the mapped range.
      fc.pre(!address.startsWith("::") || bits >= 96);
      const canonical = canonicaliseNetwork(`${address}/${bits}`) ?? assert.fail(address);
      assert.equal(canonicaliseNetwork(canonical), canonical);
      if (!neverAdmitted(address))
        assert.equal(isAllowedAddress(address, [canonical]), true, `${address} in ${canonical}`);
    }),
    { numRuns: 1_000 },
  );
});
