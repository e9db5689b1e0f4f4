import { createPublicKey, type JsonWebKey } from "node:crypto";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Logger } from "../telemetry/logger.ts";

export interface IssuerKeys {
  find: JWTVerifyGetKey;
  /** Doesn't wait for the issuer: an unknown key is fetched in the background and found by later calls. */
  findKnown: JWTVerifyGetKey;
  stop(): void;
}

/** No token can be verified, because the issuer has been unavailable since this process started. */
export class IssuerUnavailableError extends Error {
  override readonly name = "IssuerUnavailableError";
}

const fetchTimeoutMs = 3_000;
const refreshIntervalMs = 300_000;
const coolDownMs = 5_000;
/** Without any key every request is refused, so retries are frequent. */
const coolDownWithoutKeysMs = 250;
const minRsaBits = 2_048;

/** Filters unusable keys up front: jose would fail only when a token names such a key, with an error that looks like a server error. */
function isUsable(jwk: JsonWebKey): boolean {
  try {
    const { modulusLength = minRsaBits } = createPublicKey({ key: jwk, format: "jwk" }).asymmetricKeyDetails ?? {};
    return jwk.d === undefined && modulusLength >= minRsaBits;
  } catch {
    return false;
  }
}

async function fetchKeys(jwksUrl: string, stopping: AbortSignal): Promise<JWTVerifyGetKey> {
  const response = await fetch(jwksUrl, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.any([stopping, AbortSignal.timeout(fetchTimeoutMs)]),
  });
  if (response.status !== 200) throw new Error(`the token issuer responded with status ${response.status}`);
  const published = (await response.json()) as Partial<JSONWebKeySet> | null;
  if (!Array.isArray(published?.keys)) {
    throw new Error(
      "the token issuer's response has no `keys`; set TOKEN_JWKS_URL to the `jwks_uri` of its discovery document",
    );
  }
  const keys = published.keys.filter(isUsable);
  // A starting issuer may publish no keys; accepting that would refuse every token.
  if (keys.length === 0) throw new Error("the token issuer's response contains no usable key");
  return createLocalJWKSet({ keys });
}

/**
 * Caches the keys that the issuer publishes; jose selects among them. Refreshing is done here, because jose's remote key set drops
 * expired keys, so that every token would be refused while the issuer is unavailable. Here the last valid set stays in use until a
 * newer one arrives. An unknown key triggers a refresh, limited by the cool-down: anyone can send a token with an invented key id.
 */
export function createIssuerKeys(options: { jwksUrl: string; logger: Logger; onFetched?: () => void }): IssuerKeys {
  const stopping = new AbortController();
  let known: JWTVerifyGetKey | undefined;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let refreshing = Promise.resolve();
  const fetchNewer = async (): Promise<void> => {
    try {
      known = await fetchKeys(options.jwksUrl, stopping.signal);
      options.onFetched?.();
    } catch (error) {
      if (stopping.signal.aborted) return;
      const effect =
        known === undefined ? "refusing all tokens until a fetch succeeds" : "continuing with the known keys";
      options.logger.warn({ err: error }, `failed to fetch the token issuer's keys; ${effect}`);
    }
  };
  const refresh = (): Promise<void> => {
    const sinceMs = Date.now() - refreshedAt;
    // If the clock was set back, the elapsed time is negative; that must not block refreshes until the clock catches up.
    const coolingDown = sinceMs >= 0 && sinceMs < (known === undefined ? coolDownWithoutKeysMs : coolDownMs);
    if (coolingDown || stopping.signal.aborted) return refreshing;
    refreshedAt = Date.now();
    refreshing = fetchNewer();
    return refreshing;
  };
  void refresh();
  const timer = setInterval(() => void refresh(), refreshIntervalMs).unref();

  return {
    async find(header, token) {
      if (known === undefined) await refresh();
      if (known === undefined) throw new IssuerUnavailableError("the token issuer's keys have not been fetched yet");
      try {
        return await known(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
      await refresh();
      return known(header, token);
    },
    async findKnown(header, token) {
      try {
        if (known === undefined) throw new IssuerUnavailableError("the token issuer's keys have not been fetched yet");
        return await known(header, token);
      } catch (error) {
        if (error instanceof IssuerUnavailableError || error instanceof errors.JWKSNoMatchingKey) void refresh();
        throw error;
      }
    },
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}
