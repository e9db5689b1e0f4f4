import { createPublicKey, type JsonWebKey } from "node:crypto";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Logger } from "../telemetry/logger.ts";

export interface IssuerKeys {
  find: JWTVerifyGetKey;
  /** Doesn't wait for the issuer: a key that isn't known yet is found once it has been fetched in the background. */
  findKnown: JWTVerifyGetKey;
  stop(): void;
}

/** No token can be verified: the issuer has been away since this process started. */
export class IssuerAwayError extends Error {
  override readonly name = "IssuerAwayError";
}

const answerWithinMs = 3_000;
const askEveryMs = 300_000;
const coolDownMs = 5_000;
/** While there is no key at all nobody can come in, so that waiting long would cost more than asking. */
const coolDownWithoutKeysMs = 250;
const leastRsaBits = 2_048;

/** jose finds out when a token names the key, and then fails with an error that looks like one of our own. */
function isUsable(jwk: JsonWebKey): boolean {
  try {
    const { modulusLength = leastRsaBits } = createPublicKey({ key: jwk, format: "jwk" }).asymmetricKeyDetails ?? {};
    return jwk.d === undefined && modulusLength >= leastRsaBits;
  } catch {
    return false;
  }
}

async function fetchKeys(jwksUrl: string, stopping: AbortSignal): Promise<JWTVerifyGetKey> {
  const answer = await fetch(jwksUrl, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.any([stopping, AbortSignal.timeout(answerWithinMs)]),
  });
  if (answer.status !== 200) throw new Error(`the token issuer answered ${answer.status}`);
  const published = (await answer.json()) as JSONWebKeySet;
  const keys = published.keys.filter(isUsable);
  // An issuer that is starting may answer so; if that counted, nobody could come in any more.
  if (keys.length === 0) throw new Error("the token issuer answered without a key that can be used");
  return createLocalJWKSet({ keys });
}

/**
 * The keys that the issuer publishes. jose selects among them; when to ask is decided here, because jose alone throws
 * away what it has once that is old, and then nobody could come in while the issuer is away. Here the last good set is
 * used until a newer one is there. A key that isn't in it is asked for at once, though never more often than the
 * cool-down allows: anyone can send a token with an invented key id.
 */
export function issuerKeys(options: { jwksUrl: string; logger: Logger; onFetched?: () => void }): IssuerKeys {
  const stopping = new AbortController();
  let known: JWTVerifyGetKey | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking = Promise.resolve();
  const fetchNewer = async (): Promise<void> => {
    try {
      known = await fetchKeys(options.jwksUrl, stopping.signal);
      options.onFetched?.();
    } catch (error) {
      if (stopping.signal.aborted) return;
      options.logger.warn({ err: error }, "the token issuer's keys can't be fetched; those known so far stay in use");
    }
  };
  const ask = (): Promise<void> => {
    const sinceMs = Date.now() - askedAt;
    // A clock that was set back must not keep us from asking until it has caught up.
    const coolingDown = sinceMs >= 0 && sinceMs < (known === undefined ? coolDownWithoutKeysMs : coolDownMs);
    if (coolingDown || stopping.signal.aborted) return asking;
    askedAt = Date.now();
    asking = fetchNewer();
    return asking;
  };
  void ask();
  const timer = setInterval(() => void ask(), askEveryMs).unref();

  return {
    async find(header, token) {
      if (known === undefined) await ask();
      if (known === undefined) throw new IssuerAwayError("the token issuer has not answered yet");
      try {
        return await known(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
      await ask();
      return known(header, token);
    },
    async findKnown(header, token) {
      try {
        if (known === undefined) throw new IssuerAwayError("the token issuer has not answered yet");
        return await known(header, token);
      } catch (error) {
        if (error instanceof IssuerAwayError || error instanceof errors.JWKSNoMatchingKey) void ask();
        throw error;
      }
    },
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}
