import assert from "node:assert/strict";
import { isIP, isIPv6 } from "node:net";
import { test } from "node:test";
import { anyIpv4Number, anyIpv6, anyNetworks, ipv4Of, policyAllows } from "@ehr-marketplace/tests/address-policy";
import { rounds } from "@ehr-marketplace/tests/rounds";
import fc from "fast-check";
import { findUrlError } from "../../endpoints/endpoint.ts";
import { findCallbackError } from "../../organisations/organisation.ts";
import { admittedAddresses, type ResolvedAddress } from "./admitted-addresses.ts";
import { Failure } from "./failure.ts";
import { readTarget } from "./target.ts";

const runs = { numRuns: rounds(1_000, 10_000) };

/** One to four parts, each in a base of its own, as inet_aton reads them. */
const numericHost = fc
  .tuple(anyIpv4Number, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }))
  .map(([number, count, bases]) => {
    const bytes = ipv4Of(number).split(".").map(Number);
    const last = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    const inBase = [
      (part: number) => String(part),
      (part: number) => `0${part.toString(8)}`,
      (part: number) => `0x${part.toString(16)}`,
      (part: number) => `0X000${part.toString(16).toUpperCase()}`,
    ];
    return [...bytes.slice(0, count - 1), last].map((part, nth) => inBase[bases[nth] ?? 0]?.(part)).join(".");
  });
const bracketed = fc
  .tuple(anyIpv6, fc.constantFrom("", "", "", "%eth0", "%25eth0", "."), fc.boolean())
  .map(([address, after, upper]) => `[${upper ? address.toUpperCase() : address}${after}]`);
const name = fc.constantFrom(
  "hooks.example",
  "HOOKS.Example",
  "localhost",
  "1.2.3.4.example",
  "0x7f.example",
  "bücher.example",
  "a_b.example",
  "xn--bcher-kva.example",
);

/** Spellings that a browser takes for the same host: full-width and enclosed digits, other full stops, percent-encoding, a hyphen that isn't shown. */
const disguise: Record<string, (character: string) => string> = {
  plain: (character) => character,
  percent: (character) => `%${character.charCodeAt(0).toString(16)}`,
  fullWidth: (character) =>
    character >= "!" && character <= "~" ? String.fromCharCode(character.charCodeAt(0) + 0xfee0) : character,
  fullStop: (character) => (character === "." ? "。" : character),
  hidden: (character) => `${character}\u00ad`,
  tab: (character) => `${character}\t`,
};
const host = fc.oneof(
  bracketed,
  fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: numericHost }, { weight: 1, arbitrary: name }),
      fc.constantFrom(...Object.values(disguise)),
      fc.infiniteStream(fc.boolean()),
      fc.constantFrom("", "", ".", ".."),
    )
    .map(
      ([text, change, choices, dot]) =>
        Array.from(text, (each) => (choices.next().value ? change(each) : each)).join("") + dot,
    ),
);
const url = fc
  .record({
    scheme: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("https://", "http://") },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          "HTTPS://",
          "https:",
          "https:/",
          "https:///",
          "https:\\\\",
          " https://",
          "ftp://",
          "",
        ),
      },
    ),
    before: fc.oneof(
      { weight: 6, arbitrary: fc.constant("") },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          "user@",
          ":@",
          "a:b@",
          "8.8.8.8@",
          "8.8.8.8%40",
          "8.8.8.8\\@",
          "8.8.8.8#@",
          "8.8.8.8?@",
        ),
      },
    ),
    host,
    after: fc.constantFrom(
      "",
      "/",
      "/hook",
      ":8443/",
      ":443",
      ":0",
      ":",
      ":65536",
      "/a?b=c",
      "#",
      "/#x",
      "\\x",
      "\n",
      "/..//%2e%2e/",
    ),
  })
  .map((parts) => parts.scheme + parts.before + parts.host + parts.after);
const resolved: fc.Arbitrary<ResolvedAddress[]> = fc.array(
  fc
    .oneof(anyIpv4Number.map(ipv4Of), anyIpv6)
    .map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }) as const),
  { maxLength: 3 },
);

/** Whether the request schemas let it pass: they ask for the format `uri`. */
const isUri = (text: string): boolean => /^[!-[\]-~]+$/.test(text);

type Outcome = { addresses: ResolvedAddress[] } | { refused: string };

/** Where a request to this URL would connect to. */
async function connectionTo(text: string, networks: string[], responses: ResolvedAddress[]): Promise<Outcome> {
  const progress = { stage: "address" as const, isDone: false, abort: () => {} };
  try {
    const target = readTarget(text);
    return { addresses: await admittedAddresses(target, networks, () => Promise.resolve(responses), progress) };
  } catch (error) {
    assert.ok(error instanceof Failure, `${String(error)} is no failure that a sender expects`);
    return { refused: error.reason };
  }
}

test("connects only to allowed addresses, for any notation of a host and any result of its resolution", async () => {
  const counts = { connected: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(url, anyNetworks, resolved, async (text, networks, responses) => {
      const outcome = await connectionTo(text, networks, responses);
      counts["refused" in outcome ? "refused" : "connected"] += 1;
      if ("refused" in outcome) return;
      assert.notEqual(outcome.addresses.length, 0);
      const { hostname, protocol } = new URL(text);
      const literal = hostname.replace(/^\[(.*)\]$/, "$1");
      // The connection is made to the address in the URL, and to nothing that a resolver says of it.
      const expected = isIP(literal) === 0 ? responses.map(({ address }) => address) : [literal];
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

for (const [what, whyNot] of [
  ["an endpoint", findUrlError],
  ["a callback", findCallbackError],
] as const) {
  test(`a URL that is accepted as ${what} can be requested, and its host is the one in its text`, async () => {
    const counts = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(url, anyNetworks, async (text, networks) => {
        if (whyNot(text, networks) !== undefined) {
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
        const outcome = await connectionTo(text, networks, []);
        assert.deepEqual(outcome, { addresses: [{ address: literal, family: isIPv6(literal) ? 6 : 4 }] });
      }),
      runs,
    );
    assert.ok(counts.accepted > 50 && counts.refused > 50, JSON.stringify(counts));
  });
}
