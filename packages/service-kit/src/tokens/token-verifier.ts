import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from "jose";
import type { Logger } from "../telemetry/logger.ts";
import type { Caller } from "./caller.ts";
import { buildCaller, type ClaimPaths } from "./claims.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { createVerifiedTokenCache } from "./verified-token-cache.ts";

/** A token isn't valid. The message is shown to the client. */
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

export interface TokenVerifier {
  /** Returns the caller of a token that was verified before. */
  findVerified: (token: string) => Caller | undefined;
  /** `waitForKeys`: whether to wait until an unknown key has been fetched (the default), or to fetch it in the background. */
  verify: (token: string, options?: { waitForKeys: boolean }) => Promise<Caller>;
  stop(): void;
}

const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const skewSeconds = 30;
const accessTokenTypes = new Set<unknown>([undefined, "jwt", "at+jwt", "application/at+jwt"]);
const onlyInIdTokens = ["at_hash", "c_hash", "s_hash"];

export function createTokenVerifier(options: TokenOptions): TokenVerifier {
  const verified = createVerifiedTokenCache(skewSeconds);
  const keys = createIssuerKeys({ ...options, onFetched: () => verified.clear() });
  const { issuer, audience } = options;
  const checks = { issuer, audience, algorithms, clockTolerance: skewSeconds, requiredClaims: ["exp", "sub"] };
  return {
    findVerified: (token) => verified.find(token),
    async verify(token, { waitForKeys } = { waitForKeys: true }) {
      const known = verified.find(token);
      if (known !== undefined) return known;
      const store = verified.createStore();
      let result: JWTVerifyResult;
      try {
        result = await jwtVerify(token, waitForKeys ? keys.find : keys.findKnown, checks);
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new TokenRefusedError(describeRefusal(error), { cause: error });
      }
      const caller = buildCaller(accessClaims(result), options.claims);
      store(token, caller, result.payload.exp ?? 0);
      return caller;
    },
    stop: () => keys.stop(),
  };
}

/** Refuses ID tokens: they authenticate a user to a client and don't authorise API calls, even if the audience matches. */
function accessClaims({ protectedHeader, payload }: JWTVerifyResult): JWTPayload & { iss: string; sub: string } {
  const { iss, sub } = payload;
  // jose only checks that `sub` is present; an empty subject would identify no caller.
  if (iss === undefined || typeof sub !== "string" || sub === "") {
    throw new TokenRefusedError("It has no issuer or no subject.");
  }
  const marked = typeof payload["typ"] === "string" && payload["typ"].toLowerCase() !== "bearer";
  const idToken = marked || onlyInIdTokens.some((claim) => Object.hasOwn(payload, claim));
  // jose doesn't check the type of `typ` either.
  const type: unknown = protectedHeader.typ;
  if (idToken || !accessTokenTypes.has(typeof type === "string" ? type.toLowerCase() : type)) {
    throw new TokenRefusedError("It is not an access token.");
  }
  return { ...payload, iss, sub };
}

function describeRefusal(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "It has expired.";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `It lacks the claim ${error.claim}.`;
    if (error.claim === "nbf" && error.reason === "check_failed") return "It is not valid yet.";
    if (error.claim === "iss") return "Its issuer is not trusted.";
    if (error.claim === "aud") return "It is for another audience.";
    return `Its claim ${error.claim} is not valid.`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return `It must be signed with one of ${algorithms.join(", ")}.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "Its signature doesn't verify.";
  if (error instanceof errors.JWKSNoMatchingKey) return "It is signed with a key that its issuer doesn't publish.";
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return "It doesn't name the key that signed it, and its issuer has several.";
  return "It is not a signed JWT.";
}
