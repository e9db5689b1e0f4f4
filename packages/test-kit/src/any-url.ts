// URLs in every spelling of a host that a URL parser accepts, for tests of what may be requested.
import fc from "fast-check";
import { anyIpv4Number, anyIpv6, ipv4Of } from "./address-policy.ts";

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
export const anyUrl: fc.Arbitrary<string> = fc
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
