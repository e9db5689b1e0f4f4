import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const parseNetwork = (text: string): Network =>
  ipaddr.isValidCIDR(text)
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), ipaddr.parse(text).kind() === "ipv4" ? 32 : 128];

const isInNetwork = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

/** Metadata services of clouds, which serve credentials. They are always blocked, even if an allowed network contains them. */
const metadataNetworks = [
  "169.254.0.0/16",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::/32",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd20:ce::254",
  "fe80::/10",
].map(parseNetwork);
const blockedRanges = new Set(["unspecified", "multicast", "broadcast", "linkLocal"]);

/** All other IPv6 addresses are unassigned or not public, even where the library has no name for their range. */
const publicIpv6 = parseNetwork("2000::/3");
const ipv4Compatible = parseNetwork("::/96");
const localTranslation = parseNetwork("64:ff9b:1::/48");

/** Rewrites ::1.2.3.4 as ::102:304 with the URL parser, because the library parses it as ::ffff:1.2.3.4, another address. */
const normaliseIpv6 = (text: string): string =>
  isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;

/** Converts an IPv4-mapped address to IPv4. Addresses with a zone are refused: only link-local addresses have one. */
function parseAddress(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes("%") ? undefined : ipaddr.process(normaliseIpv6(text));
}

/** Returns the IPv4 addresses that a translating gateway would derive from this one. */
function findEmbeddedIpv4(address: Address): ipaddr.IPv4[] {
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
      return address.range() === "unicast" && isInNetwork(address, ipv4Compatible) ? [new ipaddr.IPv4(last)] : [];
  }
}

const isMetadata = (address: Address): boolean => metadataNetworks.some((network) => isInNetwork(address, network));

/**
 * In 64:ff9b:1::/48 the operator chooses the prefix length (RFC 8215), which determines the position of the IPv4 address (RFC 6052);
 * byte 8 isn't part of it. All possible positions are checked.
 */
function canTranslateToMetadata(address: Address): boolean {
  if (!isInNetwork(address, localTranslation)) return false;
  const bytes = address.toByteArray().toSpliced(8, 1);
  return [48, 56, 64].some((prefix) => isMetadata(new ipaddr.IPv4(bytes.slice(prefix / 8, prefix / 8 + 4))));
}

function isAlwaysBlocked(address: Address): boolean {
  return blockedRanges.has(address.range()) || isMetadata(address) || canTranslateToMetadata(address);
}

function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || isInNetwork(address, publicIpv6));
}

/** Returns the canonical form of a network, or undefined if the text isn't one. */
export function canonicaliseNetwork(text: string): string | undefined {
  const [, given = "", prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  // The library's own check isn't used: it parses 10/8 as 0.0.0.10/8, and 010.0.0.0 as 8.0.0.0.
  if (isIP(given) === 0) return undefined;
  const written = normaliseIpv6(given);
  const address = ipaddr.parse(written);
  const maxBits = address.kind() === "ipv4" ? 32 : 128;
  const bits = Number(prefix ?? maxBits);
  if (bits > maxBits) return undefined;
  if (address instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${written}/${bits}`).toString()}/${bits}`;
  }
  // Mapped addresses are compared as IPv4, so they would never match an IPv6 network.
  if (address.isIPv4MappedAddress() && bits >= 96) {
    return canonicaliseNetwork(`${address.toIPv4Address().toString()}/${bits - 96}`);
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${written}/${bits}`).toString()}/${bits}`;
}

/** Whether the address is in one of the networks, regardless of whether requests to it are allowed. */
export function isInNetworks(text: string, networks: readonly string[]): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  return networks.some((network) => isInNetwork(address, parseNetwork(canonicaliseNetwork(network) ?? network)));
}

/** Whether outgoing requests may connect to this address: it is public, or in one of the allowed networks. */
export function isAllowedAddress(text: string, allowedNetworks: readonly string[]): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  if ([address, ...findEmbeddedIpv4(address)].some(isAlwaysBlocked)) return false;
  return isPublic(address) || allowedNetworks.some((network) => isInNetwork(address, parseNetwork(network)));
}
