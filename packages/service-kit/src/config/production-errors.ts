import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import pg from "pg";
import type { EncryptionKeys } from "../secrets/encryption-keys.ts";
import type { VariableErrors } from "./read-environment.ts";

/** SHA-256 of the encryption key of local stacks and tests, which is public in the repository. */
const developmentKeyDigest = "d77cc320ada9595163046e9a17f286b282d69f362c2e527493ef6bb455b84da0";
const minMetricsTokenCharacters = 32;

/** Variables with additional rules in production. Variables that a process doesn't read, or that are invalid, are missing here. */
export interface ProductionVariables {
  NODE_ENV: string;
  METRICS_TOKEN: string;
  TOKEN_JWKS_URL: string;
  ENCRYPTION_KEYS: EncryptionKeys;
  TRUSTED_PROXIES: string[] | "none";
  DATABASE_URL: string;
  MIGRATION_DATABASE_URL: string;
}

/**
 * Returns why each variable can't be used in production. An invalid NODE_ENV counts as production, so that the first start names all
 * missing variables.
 */
export function findProductionErrors(read: Partial<ProductionVariables>): VariableErrors {
  if (read.NODE_ENV === "development" || read.NODE_ENV === "test") return {};
  return {
    METRICS_TOKEN: findMetricsTokenError(read.METRICS_TOKEN),
    TOKEN_JWKS_URL: findHttpsError(
      read.TOKEN_JWKS_URL,
      "an attacker who changes that response in transit can sign tokens for any caller",
    ),
    ENCRYPTION_KEYS: findEncryptionKeysError(read.ENCRYPTION_KEYS),
    TRUSTED_PROXIES: findProxiesError(read.TRUSTED_PROXIES),
    DATABASE_URL: findConnectionError(read.DATABASE_URL),
    MIGRATION_DATABASE_URL: findConnectionError(read.MIGRATION_DATABASE_URL),
  };
}

export function findHttpsError(url: string | undefined, reason: string): string | undefined {
  if (url === undefined || url === "" || url.startsWith("https://")) return undefined;
  return `must begin with https:// in production, because ${reason}`;
}

function findMetricsTokenError(token: string | undefined): string | undefined {
  if (token === "") return "is required in production, because /metrics would be public without it";
  if (token === undefined || token.length >= minMetricsTokenCharacters) return undefined;
  return `must have at least ${minMetricsTokenCharacters} characters in production. Create it with: openssl rand -hex 32`;
}

function findEncryptionKeysError(keys: EncryptionKeys | undefined): string | undefined {
  const digests = [...(keys?.byVersion.values() ?? [])].map((key) => createHash("sha256").update(key).digest("hex"));
  if (!digests.includes(developmentKeyDigest)) return undefined;
  return "contains the development key of the repository, which is public. Create one with: openssl rand -base64 32";
}

function findProxiesError(proxies: string[] | "none" | undefined): string | undefined {
  if (proxies === undefined || proxies === "none" || proxies.length > 0) return undefined;
  return "is required in production, because behind a proxy all callers would otherwise have the proxy's address. Without a proxy, set it to: none";
}

/** Parses the connection string with `pg`, so that the check sees the host and the TLS mode that the connection will use. */
function findConnectionError(connectionString: string | undefined): string | undefined {
  if (connectionString === undefined) return undefined;
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString });
  } catch (error) {
    return `can't be used (${(error as Error).message})`;
  }
  // libpq, and the next major version of `pg`, fall back to a connection without TLS in these modes.
  const tlsIsOptional = /[?&]sslmode=(?:prefer|allow)(?:&|$)/.test(connectionString);
  if (isLocalHost(client.host) || (client.ssl && !tlsIsOptional)) return undefined;
  return `connects to another host without TLS, which is required in production. ${tlsAdvice(connectionString)}`;
}

function tlsAdvice(connectionString: string): string {
  const present = /[?&](ssl|sslmode)=/.exec(connectionString)?.[1];
  if (present !== undefined) return `Replace its parameter ${present} with: sslmode=verify-full`;
  return `End it with: ${connectionString.includes("?") ? "&" : "?"}sslmode=verify-full`;
}

function isLocalHost(host: string): boolean {
  if (host.startsWith("/") || host.toLowerCase() === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}
