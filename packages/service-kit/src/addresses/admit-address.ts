import { isIP } from "node:net";
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

function isNeverAdmitted(address: Address): boolean {
  return neverRanges.has(address.range()) || metadata.some((network) => within(address, network));
}

function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || within(address, publicIpv6));
}

/** A network in its canonical form, or nothing where the text is none. */
export function canonicalNetwork(text: string): string | undefined {
  const [, written = "", prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  // Not the library's own check: it reads 10/8 as 0.0.0.10/8, and 010.0.0.0 as 8.0.0.0.
  if (isIP(written) === 0) return undefined;
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
  const address = ipaddr.process(text);
  return networks.some((network) => within(address, networkFrom(canonicalNetwork(network) ?? network)));
}

/** Whether requests of ours may go to this address: a public one, or one in a network that was allowed by name. */
export function isAdmitted(text: string, allowedNetworks: readonly string[]): boolean {
  if (isIP(text) === 0) return false;
  // An IPv4 address in the clothes of an IPv6 one is judged as what it is.
  const address = ipaddr.process(text);
  if ([address, ...ipv4Within(address)].some(isNeverAdmitted)) return false;
  return isPublic(address) || allowedNetworks.some((network) => within(address, networkFrom(network)));
}
