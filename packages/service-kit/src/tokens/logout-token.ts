import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Logger } from "../telemetry/logger.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { TokenRefusedError } from "./token-verifier.ts";

/** Whose sessions end: those of one session of the identity provider, or, without one, all of the user's until then. */
export interface LogoutToken {
  issuer: string;
  providerSession: string | undefined;
  subject: string | undefined;
  issuedAt: Date;
}

export interface LogoutTokenVerifier {
  verify(token: string): Promise<LogoutToken>;
  stop(): void;
}

const event = "http://schemas.openid.net/event/backchannel-logout";
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const skewSeconds = 30;
/** The specification recommends that such tokens expire within two minutes. */
const maxAgeSeconds = 300;

/** Verifies the token of OpenID Connect Back-Channel Logout 1.0, section 2.6. */
export function createLogoutTokenVerifier(options: {
  issuer: string;
  clientId: string;
  jwksUrl: string;
  logger: Logger;
}): LogoutTokenVerifier {
  const { issuer, clientId } = options;
  const keys = createIssuerKeys(options);
  const checks = {
    issuer,
    audience: clientId,
    algorithms,
    clockTolerance: skewSeconds,
    maxTokenAge: maxAgeSeconds,
    requiredClaims: ["iat", "jti", "events"],
  };
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keys.find, checks);
        return parseClaims(payload, issuer);
      } catch (error) {
        if (error instanceof errors.JOSEError)
          throw new TokenRefusedError("The logout token is invalid.", { cause: error });
        throw error;
      }
    },
    stop: () => keys.stop(),
  };
}

function parseClaims({ iat = 0, events, sid, sub, nonce }: JWTPayload, issuer: string): LogoutToken {
  const isLogout = typeof events === "object" && events !== null && Object.hasOwn(events, event);
  if (!isLogout || nonce !== undefined) throw new TokenRefusedError("It is not a logout token.");
  const [providerSession, subject] = [sid, sub].map((claim) =>
    typeof claim === "string" && claim !== "" ? claim : undefined,
  );
  if (providerSession === undefined && subject === undefined)
    throw new TokenRefusedError("The logout token names neither a session nor a user.");
  return { issuer, providerSession, subject, issuedAt: new Date(iat * 1_000) };
}
