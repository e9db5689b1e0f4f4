import { Resolver as NameServers } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Resolve, ResolvedAddress } from "./admitted-addresses.ts";

export interface Resolver {
  resolve: Resolve;
  close(): void;
}

const addressOf = (address: string): ResolvedAddress => ({ address, family: isIP(address) === 6 ? 6 : 4 });

function readHosts(text: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [addressOf(address)]);
      else known.push(addressOf(address));
    }
  }
  return hosts;
}

function hostsOfThisMachine(): string {
  try {
    return readFileSync("/etc/hosts", "utf8");
  } catch {
    return "";
  }
}

const isWithoutAddress = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOTFOUND" || code === "ENODATA";

/**
 * Resolves with c-ares: `dns.lookup` uses the four libuv threads, and a few name servers that don't respond would block all other
 * names, file I/O and key derivation. Of the system's configuration only the hosts file is used, as read at the start; search
 * domains are not applied.
 */
export function createResolver(options: { servers?: readonly string[]; hosts?: string } = {}): Resolver {
  const resolver = new NameServers({ timeout: 1_500, tries: 2, maxTimeout: 3_000 });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  const hosts = readHosts(options.hosts ?? hostsOfThisMachine());

  async function resolve(hostname: string): Promise<ResolvedAddress[]> {
    const listed = hosts.get(hostname.replace(/\.$/, ""));
    if (listed !== undefined) return listed;
    const responses = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = responses.flatMap((response) => (response.status === "fulfilled" ? response.value : []));
    if (found.length > 0) return found.map(addressOf);
    const errors = responses.flatMap((response) => (response.status === "rejected" ? [response.reason as Error] : []));
    // A failed query takes precedence over "no address": the server may have had one.
    throw errors.find((error) => !isWithoutAddress(error)) ?? errors[0] ?? new Error("no address");
  }

  return { resolve, close: () => resolver.cancel() };
}
