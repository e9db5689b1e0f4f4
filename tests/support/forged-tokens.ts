import { createPublicKey } from "node:crypto";
import { signIn } from "@ehr-marketplace/dev/identity-provider";
import { importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import type { Callers } from "./callers.ts";

const hour = 3_600;
/** Of every service of ours: what is forged isn't to be refused for its audience. */
const audiences = ["marketplace", "ehr"];
const now = (): number => Math.floor(Date.now() / 1_000);

/** What the identity provider would sign for the claims, and whatever else a test wants it to. */
export async function signedToken(
  { identityProvider }: Callers,
  claims: JWTPayload,
  header: { kid?: string } = {},
): Promise<string> {
  const [key] = identityProvider.keys;
  if (key === undefined) throw new Error("the identity provider has no key");
  const kid = header.kid ?? key.kid ?? "";
  return new SignJWT({
    iss: identityProvider.issuer,
    aud: audiences,
    sub: "somebody",
    iat: now(),
    exp: now() + hour,
    ...claims,
  })
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid })
    .sign(await importJWK(key, "RS256"));
}

const everything = { roles: ["operator"] };

function tampered(token: string): string {
  const [header, , signature] = token.split(".");
  const [, payload] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as JWTPayload;
  return [header, Buffer.from(JSON.stringify({ ...claims, ...everything })).toString("base64url"), signature].join(".");
}

async function signedWithThePublicKey({ identityProvider }: Callers): Promise<string> {
  const [key] = identityProvider.keys;
  const publicKey = createPublicKey({ key: { ...key }, format: "jwk" }).export({ type: "spki", format: "pem" });
  return new SignJWT({ ...everything, iss: identityProvider.issuer, aud: audiences, sub: "forger" })
    .setExpirationTime("1h")
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: key?.kid ?? "" })
    .sign(Buffer.from(publicKey));
}

/** Tokens that no service may accept, each claiming to be an operator's. */
export async function badTokens(callers: Callers): Promise<Record<string, string>> {
  const { issuer } = callers.identityProvider;
  return {
    expired: await signedToken(callers, { ...everything, exp: now() - hour }),
    "not yet valid": await signedToken(callers, { ...everything, nbf: now() + hour, exp: now() + 2 * hour }),
    "wrong issuer": await signedToken(callers, { ...everything, iss: "https://elsewhere.example" }),
    "wrong audience": await signedToken(callers, { ...everything, aud: "elsewhere" }),
    "an ID token": (await signIn(issuer, "operator")).idToken,
    "an ID token for this audience": await signedToken(callers, { ...everything, at_hash: "x", nonce: "y" }),
    "alg: none": new UnsecuredJWT({ ...everything, iss: issuer, aud: audiences, sub: "forger" })
      .setExpirationTime("1h")
      .encode(),
    "HS256 with the public key": await signedWithThePublicKey(callers),
    "unknown kid": await signedToken(callers, everything, { kid: "unheard-of" }),
    "tampered payload": tampered(callers.token("riverside-member")),
    "100 KiB": await signedToken(callers, { ...everything, padding: "x".repeat(102_400) }),
  };
}
