import { Resolver as DnsResolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Returns all addresses of a name. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

export interface Resolver {
  resolve: Resolve;
  /** Cancels pending queries. */
  close(): void;
}

const toResolvedAddress = (address: string): ResolvedAddress => ({ address, family: isIP(address) === 6 ? 6 : 4 });

function parseHosts(text: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [toResolvedAddress(address)]);
      else known.push(toResolvedAddress(address));
    }
  }
  return hosts;
}

function readHostsFile(): string {
  try {
    return readFileSync("/etc/hosts", "utf8");
  } catch {
    return "";
  }
}

const hasNoAddress = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOTFOUND" || code === "ENODATA";

/**
 * Resolves with c-ares: `dns.lookup` uses the four libuv threads, so a few names whose servers are slow would block all
 * other names, file I/O and key derivation. In exchange, only DNS and the hosts file (as it was at the start) are used,
 * and names are fully qualified: no search domains.
 */
export function createResolver(options: { servers?: readonly string[]; hosts?: string } = {}): Resolver {
  const resolver = new DnsResolver({ timeout: 1_500, tries: 2, maxTimeout: 3_000 });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  const hosts = parseHosts(options.hosts ?? readHostsFile());

  async function resolve(hostname: string): Promise<ResolvedAddress[]> {
    const listed = hosts.get(hostname.replace(/\.$/, ""));
    if (listed !== undefined) return listed;
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (addresses.length > 0) return addresses.map(toResolvedAddress);
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
    // A server that failed may know an address where the other query found none.
    throw errors.find((error) => !hasNoAddress(error)) ?? errors[0] ?? new Error("no address");
  }

  return { resolve, close: () => resolver.cancel() };
}
