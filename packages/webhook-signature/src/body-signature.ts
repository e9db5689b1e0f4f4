import { createHmac } from "node:crypto";
import { isSameText } from "./constant-time.ts";
import { isRawBody, type RawBody, requireRawBody } from "./raw-body.ts";
import { requireUsableSecret, textKey, usableSecrets } from "./secret-keys.ts";

/** Input of {@link verifyBody}. */
export interface BodyVerification {
  /** The body as received, before parsing. */
  body: RawBody;
  /** The value of `X-Marketplace-Signature`; a list of several values is never valid. */
  signature: string | readonly string[] | null | undefined;
  /** All active secrets: during a rotation the current one and the next. */
  secrets: readonly string[];
}

function hexSignature(body: RawBody, secret: string): string {
  return createHmac("sha256", textKey(secret)).update(body).digest("hex");
}

/**
 * Creates the value of `X-Marketplace-Signature`: the HMAC-SHA256 of the body, keyed with the UTF-8 bytes of the secret, in
 * lower-case hexadecimal digits.
 *
 * @throws TypeError if the secret is unusable, or the body is neither bytes nor a string.
 */
export function signBody(body: RawBody, secret: string): string {
  requireRawBody(body);
  requireUsableSecret(secret);
  return hexSignature(body, secret);
}

/**
 * Verifies that one of the secrets created this `X-Marketplace-Signature` of this body. For any input from the sender it returns a
 * boolean and doesn't throw.
 *
 * The signature has no timestamp, so a recorded delivery can be replayed. {@link verifyStandard} limits that.
 */
export function verifyBody({ body, signature, secrets }: BodyVerification): boolean {
  const given: unknown = Array.isArray(signature) && signature.length === 1 ? signature[0] : signature;
  if (typeof given !== "string" || !isRawBody(body)) return false;
  return usableSecrets(secrets).some((secret) => isSameText(hexSignature(body, secret), given));
}
