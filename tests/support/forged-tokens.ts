import { createPublicKey } from "node:crypto";
import { signIn } from "@ehr-marketplace/dev/identity-provider/client";
import { importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import type { Callers } from "./callers.ts";

const hour = 3_600;
/** Both services, so that a forged token isn't rejected for its audience. */
const audiences = ["marketplace", "ehr"];
const now = (): number => Math.floor(Date.now() / 1_000);

/** Signs a token with the identity provider's key; `claims` override the defaults. */
export async function signToken(
  { identityProvider }: Pick<Callers, "identityProvider">,
  claims: JWTPayload,
  header: { kid?: string } = {},
): Promise<string> {
  const [key] = identityProvider.keys;
  if (key === undefined) throw new Error("the identity provider has no key");
  const kid = header.kid ?? key.kid ?? "";
  return new SignJWT({
    iss: identityProvider.issuer,
    aud: audiences,
    sub: "test-subject",
    iat: now(),
    exp: now() + hour,
    ...claims,
  })
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid })
    .sign(await importJWK(key, "RS256"));
}

const operatorClaims = { roles: ["operator"] };

function tamperWithPayload(token: string): string {
  const [header, , signature] = token.split(".");
  const [, payload] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as JWTPayload;
  return [header, Buffer.from(JSON.stringify({ ...claims, ...operatorClaims })).toString("base64url"), signature].join(
    ".",
  );
}

async function signWithPublicKey({ identityProvider }: Callers): Promise<string> {
  const [key] = identityProvider.keys;
  const publicKey = createPublicKey({ key: { ...key }, format: "jwk" }).export({ type: "spki", format: "pem" });
  return new SignJWT({ ...operatorClaims, iss: identityProvider.issuer, aud: audiences, sub: "forger" })
    .setExpirationTime("1h")
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: key?.kid ?? "" })
    .sign(Buffer.from(publicKey));
}

/** Creates tokens with operator claims that every service must reject. */
export async function createInvalidTokens(callers: Callers): Promise<Record<string, string>> {
  const { issuer } = callers.identityProvider;
  return {
    expired: await signToken(callers, { ...operatorClaims, exp: now() - hour }),
    "not yet valid": await signToken(callers, { ...operatorClaims, nbf: now() + hour, exp: now() + 2 * hour }),
    "wrong issuer": await signToken(callers, { ...operatorClaims, iss: "https://elsewhere.example" }),
    "wrong audience": await signToken(callers, { ...operatorClaims, aud: "elsewhere" }),
    "an ID token": (await signIn(issuer, "operator")).idToken,
    "an ID token for this audience": await signToken(callers, { ...operatorClaims, at_hash: "x", nonce: "y" }),
    "alg: none": new UnsecuredJWT({ ...operatorClaims, iss: issuer, aud: audiences, sub: "forger" })
      .setExpirationTime("1h")
      .encode(),
    "HS256 with the public key": await signWithPublicKey(callers),
    "unknown kid": await signToken(callers, operatorClaims, { kid: "unheard-of" }),
    "tampered payload": tamperWithPayload(callers.token("riverside-member")),
    "100 KiB": await signToken(callers, { ...operatorClaims, padding: "x".repeat(102_400) }),
  };
}
