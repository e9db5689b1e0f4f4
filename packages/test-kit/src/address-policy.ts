// A second implementation of the policy for outgoing requests, for tests: it uses the ranges of IANA's registries and not the
// library that the services use.
import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";

const special4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
  192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** Special ranges within the assigned 2000::/3. */
const special6 = "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20";
const metadata4 = "169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32";
const forbidden4 = `${metadata4} 0.0.0.0/8 224.0.0.0/4 255.255.255.255/32`;
const forbidden6 = "::/128 fe80::/10 ff00::/8 fd00:ec2::/32 fd00:c1::a9fe:a9fe/128 fd00:42::42/128 fd20:ce::254/128";

/** One list per family, because `BlockList` compares an IPv4 address with IPv6 networks too. */
function networkList(networks: string): { has: (address: string) => boolean } {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks.split(/\s+/).filter((each) => each !== "")) {
    const [address = "", bits] = network.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    lists[family].addSubnet(address, Number(bits), family);
  }
  return {
    has: (address) => (isIPv4(address) ? lists.ipv4.check(address) : lists.ipv6.check(address, "ipv6")),
  };
}

const specialNetworks = networkList(`${special4} ${special6}`);
const assignedNetworks = networkList("0.0.0.0/0 2000::/3");
const metadataNetworks = networkList(metadata4);
const forbiddenNetworks = networkList(`${forbidden4} ${forbidden6}`);

/** Returns the eight groups of an IPv6 address, parsed by Node's URL parser. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const numbers = (text = ""): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [numbers(head), numbers(tail)];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

const toDottedIpv4 = (bytes: number[]): string => bytes.join(".");

/** Finds IPv4 addresses embedded in an IPv6 address: `certain` by standard prefixes, `possible` under an operator's prefix length. */
function findEmbeddedIpv4(address: string): { certain: string[]; possible: string[] } {
  const groups = groupsOf(address);
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  const at = (index: number): string => toDottedIpv4(bytes.slice(index, index + 4));
  const startsWith = (...prefix: number[]): boolean => prefix.every((group, index) => groups[index] === group);
  if (startsWith(0, 0, 0, 0, 0, 0))
    return { certain: startsWith(0, 0, 0, 0, 0, 0, 0, 1) ? [] : [at(12)], possible: [] };
  if (startsWith(0, 0, 0, 0, 0xffff, 0) || startsWith(0x64, 0xff9b, 0, 0, 0, 0))
    return { certain: [at(12)], possible: [] };
  if (startsWith(0x2002)) return { certain: [at(2)], possible: [] };
  if (startsWith(0x2001, 0))
    return { certain: [at(4), toDottedIpv4(bytes.slice(12).map((byte) => 255 - byte))], possible: [] };
  if (startsWith(0x64, 0xff9b, 1)) {
    const withoutByte8 = bytes.filter((_, index) => index !== 8);
    return {
      certain: [at(12)],
      possible: [6, 7, 8].map((index) => toDottedIpv4(withoutByte8.slice(index, index + 4))),
    };
  }
  return { certain: [], possible: [] };
}

/** Allows public addresses and allowed networks; metadata and other forbidden addresses are never allowed. */
export function policyAllows(given: string, networks: readonly string[]): boolean {
  const groups = isIPv4(given) ? [] : groupsOf(given);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  const address = isMapped ? toDottedIpv4(groups.slice(6).flatMap((group) => [group >> 8, group & 255])) : given;
  const { certain, possible } = isIPv4(address) ? { certain: [], possible: [] } : findEmbeddedIpv4(address);
  if ([address, ...certain].some(forbiddenNetworks.has) || possible.some(metadataNetworks.has)) return false;
  return (
    (assignedNetworks.has(address) && !specialNetworks.has(address)) || networkList(networks.join(" ")).has(address)
  );
}

const edges = [...`${special4} ${forbidden4}`.matchAll(/([\d.]+)\/(\d+)/g)].flatMap(([, address = "", bits]) => {
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return [first - 1, first, first + 2 ** (32 - Number(bits)) - 1, first + 2 ** (32 - Number(bits))];
});
const inRange = edges.filter((edge) => edge >= 0 && edge < 2 ** 32);

/** Half of the numbers are at the edge of a relevant range. */
export const anyIpv4Number: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(...inRange), fc.nat(2 ** 32 - 1));

export const ipv4Of = (number: number): string =>
  toDottedIpv4([24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256));
const hexOf = (number: number): string =>
  `${Math.floor(number / 65_536).toString(16)}:${(number % 65_536).toString(16)}`;

/** IPv6 addresses with an embedded IPv4 address, at every offset that a translator reads. */
const embedding = fc.tuple(anyIpv4Number, fc.nat(0xffff)).chain(([number, other]) => {
  const [high, low] = [Math.floor(number / 65_536), number % 65_536];
  const group = (value: number): string => value.toString(16);
  const inverted = hexOf(2 ** 32 - 1 - number);
  return fc.constantFrom(
    `::ffff:${ipv4Of(number)}`,
    `::ffff:${hexOf(number)}`,
    `::${ipv4Of(number)}`,
    `::ffff:0:${hexOf(number)}`,
    `64:ff9b::${ipv4Of(number)}`,
    `64:ff9b:1:${group(other)}::${hexOf(number)}`,
    `64:ff9b:1:${group(high)}:${group(low >> 8)}:${group((low & 255) * 256)}::`,
    `2002:${hexOf(number)}::${group(other)}`,
    `2001:0:${hexOf(number)}::${group(other)}`,
    `2001:0:808:808:0:${group(other)}:${inverted}`,
  );
});
const oddPrefixes = `:: ::1 fe80:: febf:: fec0:: fc00:: fd00:ec2:: fd00:c1:: fd00:42:: fd20:ce:: ff02:: 100:: 2000:: 2001:: 2001:1ff:: 2001:200::
  2001:db8:: 2001:db9:: 2002:: 2620:4f:8000:: 2a00:: 3fff:: 3fff:1000:: 4000:: 5f00:: 64:ff9b:: 64:ff9b:1:: 64:ff9b:2::`;
const withPrefix = fc
  .tuple(fc.constantFrom(...oddPrefixes.split(/\s+/)), fc.constantFrom("", "1", "254", "a9fe:a9fe", "42", "23"))
  .map(([prefix, rest]) => (prefix.endsWith("::") ? prefix + rest : prefix));

export const anyIpv6: fc.Arbitrary<string> = fc.oneof(embedding, withPrefix, fc.ipV6());

/** Networks that operators allow explicitly. */
export const anyNetworks: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant<string[]>([]),
  fc.constant<string[]>(["0.0.0.0/0", "::/0"]),
  fc.subarray(["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "fd00::/8", "64:ff9b::/32", "::/96", "2002::/16"]),
);
