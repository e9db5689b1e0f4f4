import { createHmac } from "node:crypto";
import { isSameText } from "./constant-time.ts";
import { isRawBody, type RawBody, requireRawBody } from "./raw-body.ts";
import { requireUsableSecret, textKey, usableSecrets } from "./secret-keys.ts";

/** What {@link verifyBody} needs. */
export interface BodyVerification {
  /** The body as it was received, before anything parsed it. */
  body: RawBody;
  /** The value of `X-Marketplace-Signature`, as the server hands it out; a list of several values never verifies. */
  signature: string | readonly string[] | null | undefined;
  /** Every secret that is live: during a rotation the old one and the next. */
  secrets: readonly string[];
}

function hexSignature(body: RawBody, secret: string): string {
  return createHmac("sha256", textKey(secret)).update(body).digest("hex");
}

/**
 * The value of `X-Marketplace-Signature`: the HMAC-SHA256 of the body, keyed with the UTF-8 bytes of the secret, in
 * lower-case hexadecimal digits.
 *
 * @throws TypeError when the secret is unusable, or the body is neither bytes nor a string.
 */
export function signBody(body: RawBody, secret: string): string {
  requireRawBody(body);
  requireUsableSecret(secret);
  return hexSignature(body, secret);
}

/**
 * Whether one of the secrets made this `X-Marketplace-Signature` of this body. Whatever the sender put there, it
 * answers `false` rather than throws.
 *
 * The header says nothing of time: whoever recorded a delivery can send it again. {@link verifyStandard} limits that.
 */
export function verifyBody({ body, signature, secrets }: BodyVerification): boolean {
  const given: unknown = Array.isArray(signature) && signature.length === 1 ? signature[0] : signature;
  if (typeof given !== "string" || !isRawBody(body)) return false;
  return usableSecrets(secrets).some((secret) => isSameText(hexSignature(body, secret), given));
}
