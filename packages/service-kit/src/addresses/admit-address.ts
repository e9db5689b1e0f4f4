import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const networkFrom = (text: string): Network =>
  ipaddr.isValidCIDR(text)
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), ipaddr.parse(text).kind() === "ipv4" ? 32 : 128];

const within = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

/** Nobody's callback: where clouds tell a machine its own credentials, in ranges that could otherwise be allowed. */
const metadata = [
  "169.254.0.0/16",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::/32",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd20:ce::254",
  "fe80::/10",
].map(networkFrom);
const neverRanges = new Set(["unspecified", "multicast", "broadcast", "linkLocal"]);

/** The rest of IPv6 is not assigned, or not public, also where the library has no name for it. */
const publicIpv6 = networkFrom("2000::/3");
const ipv4Compatible = networkFrom("::/96");
const localTranslation = networkFrom("64:ff9b:1::/48");

/** The library reads ::1.2.3.4 as ::ffff:1.2.3.4, which is another address. The URL parser writes it as ::102:304. */
const withoutDots = (text: string): string => (isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text);

/** An IPv4-mapped address becomes the IPv4 one that it is. With a zone it is refused: only link-local addresses have one. */
function parseAddress(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes("%") ? undefined : ipaddr.process(withoutDots(text));
}

/** The IPv4 addresses that a gateway on the way would make of this one. */
function ipv4Within(address: Address): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const last = bytes.slice(12);
  switch (address.range()) {
    case "rfc6052":
    case "rfc6145":
      return [new ipaddr.IPv4(last)];
    case "6to4":
      return [new ipaddr.IPv4(bytes.slice(2, 6))];
    case "teredo":
      return [new ipaddr.IPv4(bytes.slice(4, 8)), new ipaddr.IPv4(last.map((byte) => 255 - byte))];
    default:
      return address.range() === "unicast" && within(address, ipv4Compatible) ? [new ipaddr.IPv4(last)] : [];
  }
}

const isMetadata = (address: Address): boolean => metadata.some((network) => within(address, network));

/**
 * In 64:ff9b:1::/48 the operator chooses the length of the prefix (RFC 8215), which decides where the IPv4 address is (RFC 6052); byte
 * 8 is no part of it.
 */
function mayBecomeMetadata(address: Address): boolean {
  if (!within(address, localTranslation)) return false;
  const bytes = address.toByteArray().toSpliced(8, 1);
  return [48, 56, 64].some((prefix) => isMetadata(new ipaddr.IPv4(bytes.slice(prefix / 8, prefix / 8 + 4))));
}

function isNeverAdmitted(address: Address): boolean {
  return neverRanges.has(address.range()) || isMetadata(address) || mayBecomeMetadata(address);
}

function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || within(address, publicIpv6));
}

/** A network in its canonical form, or nothing where the text is none. */
export function canonicalNetwork(text: string): string | undefined {
  const [, given = "", prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  // Not the library's own check: it reads 10/8 as 0.0.0.10/8, and 010.0.0.0 as 8.0.0.0.
  if (isIP(given) === 0) return undefined;
  const written = withoutDots(given);
  const address = ipaddr.parse(written);
  const most = address.kind() === "ipv4" ? 32 : 128;
  const bits = Number(prefix ?? most);
  if (bits > most) return undefined;
  if (address instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${written}/${bits}`).toString()}/${bits}`;
  }
  // Addresses are judged as the IPv4 ones that they are, and would never be found in such a network.
  if (address.isIPv4MappedAddress() && bits >= 96) {
    return canonicalNetwork(`${address.toIPv4Address().toString()}/${bits - 96}`);
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${written}/${bits}`).toString()}/${bits}`;
}

/** Whether the address lies in one of the networks, whether or not anything may be sent to it. */
export function isWithin(text: string, networks: readonly string[]): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  return networks.some((network) => within(address, networkFrom(canonicalNetwork(network) ?? network)));
}

/** Whether requests of ours may go to this address: a public one, or one in a network that was allowed by name. */
export function isAdmitted(text: string, allowedNetworks: readonly string[]): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  if ([address, ...ipv4Within(address)].some(isNeverAdmitted)) return false;
  return isPublic(address) || allowedNetworks.some((network) => within(address, networkFrom(network)));
}
