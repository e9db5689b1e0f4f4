import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import pg from "pg";
import type { EncryptionKeys } from "../secrets/encryption-keys.ts";
import type { Complaints } from "./read-environment.ts";

/** SHA-256 of the key of local stacks and tests, which is in the repository for everybody to read. */
const developmentKeyDigest = "d77cc320ada9595163046e9a17f286b282d69f362c2e527493ef6bb455b84da0";
const minMetricsTokenCharacters = 32;

/** What production checks of what a process reads. Variables that it doesn't have, or that are wrong by themselves, are missing. */
export interface ProductionVariables {
  NODE_ENV: string;
  METRICS_TOKEN: string;
  TOKEN_JWKS_URL: string;
  ENCRYPTION_KEYS: EncryptionKeys;
  TRUSTED_PROXIES: string[] | "none";
  DATABASE_URL: string;
  MIGRATION_DATABASE_URL: string;
}

/** Why these can't be used in production. */
export function productionComplaints(read: Partial<ProductionVariables>): Complaints {
  if (read.NODE_ENV !== "production") return {};
  return {
    METRICS_TOKEN: metricsTokenComplaint(read.METRICS_TOKEN),
    TOKEN_JWKS_URL: httpsComplaint(
      read.TOKEN_JWKS_URL,
      "who changes that response on its way can sign tokens for anybody",
    ),
    ENCRYPTION_KEYS: encryptionKeysComplaint(read.ENCRYPTION_KEYS),
    TRUSTED_PROXIES: proxiesComplaint(read.TRUSTED_PROXIES),
    DATABASE_URL: connectionComplaint(read.DATABASE_URL),
    MIGRATION_DATABASE_URL: connectionComplaint(read.MIGRATION_DATABASE_URL),
  };
}

export function httpsComplaint(url: string | undefined, because: string): string | undefined {
  if (url === undefined || url === "" || url.startsWith("https://")) return undefined;
  return `must begin with https:// in production, because ${because}`;
}

function metricsTokenComplaint(token: string | undefined): string | undefined {
  if (token === "") return "is not set, and production needs it, because /metrics would be open to anyone";
  if (token === undefined || token.length >= minMetricsTokenCharacters) return undefined;
  return `has fewer than ${minMetricsTokenCharacters} characters, which production needs. Create it with: openssl rand -hex 32`;
}

function encryptionKeysComplaint(keys: EncryptionKeys | undefined): string | undefined {
  const digests = [...(keys?.byVersion.values() ?? [])].map((key) => createHash("sha256").update(key).digest("hex"));
  if (!digests.includes(developmentKeyDigest)) return undefined;
  return "holds the development key of the repository, which everybody can read. Create one with: openssl rand -base64 32";
}

function proxiesComplaint(proxies: string[] | "none" | undefined): string | undefined {
  if (proxies === undefined || proxies === "none" || proxies.length > 0) return undefined;
  return "is not set, and production needs it, because behind a proxy all callers would have the proxy's address. Without a proxy, set it to: none";
}

/** What `pg` would do with the connection string decides, so that its parser's peculiarities are ours. */
function connectionComplaint(connectionString: string | undefined): string | undefined {
  if (connectionString === undefined) return undefined;
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString });
  } catch (error) {
    return `can't be used (${(error as Error).message})`;
  }
  // libpq, and the next major version of `pg`, go on without TLS in these modes.
  const tlsIsOptional = /[?&]sslmode=(?:prefer|allow)(?:&|$)/.test(connectionString);
  if (isThisHost(client.host) || (client.ssl && !tlsIsOptional)) return undefined;
  return `leads to another host without TLS, which production needs. ${tlsAdvice(connectionString)}`;
}

function tlsAdvice(connectionString: string): string {
  const present = /[?&](ssl|sslmode)=/.exec(connectionString)?.[1];
  if (present !== undefined) return `Replace its parameter ${present} with: sslmode=verify-full`;
  return `End it with: ${connectionString.includes("?") ? "&" : "?"}sslmode=verify-full`;
}

function isThisHost(host: string): boolean {
  if (host.startsWith("/") || host.toLowerCase() === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}
