import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from "jose";
import type { Logger } from "../telemetry/logger.ts";
import type { Caller } from "./caller.ts";
import { type ClaimPaths, callerFrom } from "./claims.ts";
import { issuerKeys } from "./issuer-keys.ts";
import { rememberTokens } from "./verified-tokens.ts";

/** A token that isn't valid, and why, in words that may be shown to whoever sent it. */
export class TokenRefusedError extends Error {
  override readonly name = "TokenRefusedError";
}

export interface TokenOptions {
  issuer: string;
  audience: string;
  jwksUrl: string;
  claims: ClaimPaths;
  logger: Logger;
}

export interface Tokens {
  /** The caller of a token that was verified before. */
  findVerified: (token: string) => Caller | undefined;
  /** `waitForKeys`: whether a key that isn't known yet is fetched first (the default), or in the background. */
  verify: (token: string, options?: { waitForKeys: boolean }) => Promise<Caller>;
  stop(): void;
}

const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const skewSeconds = 30;
const accessTokenTypes = new Set<unknown>([undefined, "jwt", "at+jwt", "application/at+jwt"]);
const onlyInIdTokens = ["at_hash", "c_hash", "s_hash"];

export function createTokens(options: TokenOptions): Tokens {
  const verified = rememberTokens(skewSeconds);
  const keys = issuerKeys({ ...options, onFetched: () => verified.forgetAll() });
  const { issuer, audience } = options;
  const checks = { issuer, audience, algorithms, clockTolerance: skewSeconds, requiredClaims: ["exp", "sub"] };
  return {
    findVerified: (token) => verified.find(token),
    async verify(token, { waitForKeys } = { waitForKeys: true }) {
      const known = verified.find(token);
      if (known !== undefined) return known;
      const remember = verified.rememberer();
      let result: JWTVerifyResult;
      try {
        result = await jwtVerify(token, waitForKeys ? keys.find : keys.findKnown, checks);
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new TokenRefusedError(whyRefused(error), { cause: error });
      }
      const caller = callerFrom(accessClaims(result), options.claims);
      remember(token, caller, result.payload.exp ?? 0);
      return caller;
    },
    stop: () => keys.stop(),
  };
}

/** An ID token tells a client who signed in; it was never meant to open an API, even where its audience would fit. */
function accessClaims({ protectedHeader, payload }: JWTVerifyResult): JWTPayload & { iss: string; sub: string } {
  const { iss, sub } = payload;
  // jose checks that a subject is there, not that it is a name; an empty one would be anybody's.
  if (iss === undefined || typeof sub !== "string" || sub === "") {
    throw new TokenRefusedError("It doesn't say whose it is.");
  }
  const marked = typeof payload["typ"] === "string" && payload["typ"].toLowerCase() !== "bearer";
  const idToken = marked || onlyInIdTokens.some((claim) => Object.hasOwn(payload, claim));
  // Nor does jose check what this is.
  const type: unknown = protectedHeader.typ;
  if (idToken || !accessTokenTypes.has(typeof type === "string" ? type.toLowerCase() : type)) {
    throw new TokenRefusedError("It is not an access token.");
  }
  return { ...payload, iss, sub };
}

function whyRefused(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "It has expired.";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `It lacks the claim ${error.claim}.`;
    if (error.claim === "nbf" && error.reason === "check_failed") return "It is not valid yet.";
    if (error.claim === "iss") return "It is not from the issuer that is trusted here.";
    if (error.claim === "aud") return "It is meant for another audience.";
    return `Its claim ${error.claim} is not valid.`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return `It must be signed with one of ${algorithms.join(", ")}.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "Its signature doesn't verify.";
  if (error instanceof errors.JWKSNoMatchingKey) return "It is signed with a key that its issuer doesn't publish.";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "It doesn't say which of its issuer's keys signed it.";
  return "It is not a signed JWT.";
}
