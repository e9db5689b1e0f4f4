import assert from "node:assert/strict";
import { isIP, isIPv6 } from "node:net";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { anyIpv4Number, anyIpv6, anyNetworks, ipv4Of, policyAllows } from "@ehr-marketplace/test-kit/address-policy";
import { anyUrl } from "@ehr-marketplace/test-kit/any-url";
import fc from "fast-check";
import { Failure } from "./failure.ts";
import type { ResolvedAddress } from "./resolver.ts";
import { parseTarget, resolveAllowedAddresses } from "./target.ts";

const runs = { numRuns: rounds(1_000, 10_000) };

const anyAddresses: fc.Arbitrary<ResolvedAddress[]> = fc.array(
  fc
    .oneof(anyIpv4Number.map(ipv4Of), anyIpv6)
    .map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }) as const),
  { maxLength: 3 },
);

type Outcome = { addresses: ResolvedAddress[] } | { refused: string };

/** Where a request to this URL would connect to. */
async function connectionTo(text: string, networks: string[], resolved: ResolvedAddress[]): Promise<Outcome> {
  const progress = { stage: "address" as const };
  try {
    const target = parseTarget(text);
    return { addresses: await resolveAllowedAddresses(target, networks, () => Promise.resolve(resolved), progress) };
  } catch (error) {
    assert.ok(error instanceof Failure, `${String(error)} is no failure that a client expects`);
    return { refused: error.reason };
  }
}

test("however a host is spelled and whatever its name resolves to, a request goes only where the policy allows", async () => {
  const counts = { connected: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(anyUrl, anyNetworks, anyAddresses, async (text, networks, resolved) => {
      const outcome = await connectionTo(text, networks, resolved);
      counts["refused" in outcome ? "refused" : "connected"] += 1;
      if ("refused" in outcome) return;
      assert.notEqual(outcome.addresses.length, 0);
      const { hostname, protocol } = new URL(text);
      const literal = hostname.replace(/^\[(.*)\]$/, "$1");
      // The connection is made to the address in the URL, and to nothing that a resolver says of it.
      const expected = isIP(literal) === 0 ? resolved.map(({ address }) => address) : [literal];
      assert.deepEqual(
        outcome.addresses.map(({ address }) => address),
        expected,
      );
      for (const { address } of outcome.addresses) {
        assert.equal(policyAllows(address, networks), true, address);
        if (protocol === "http:") assert.equal(networks.length > 0, true, "plain HTTP needs an allowed network");
      }
    }),
    runs,
  );
  assert.ok(counts.connected > 50 && counts.refused > 50, JSON.stringify(counts));
});
