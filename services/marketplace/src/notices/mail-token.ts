import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";

/** Texts without spaces, in Base64url, and their digest: whoever has the mail with the token may use it, and nobody can make another one. */
export function createMailToken(digest: KeyedDigest, texts: readonly string[]): string {
  const value = Buffer.from(texts.join(" ")).toString("base64url");
  return `${value}.${digest.create(value)}`;
}

/** Returns undefined for anything that we did not make. */
export function readMailToken(digest: KeyedDigest, token: string): string[] | undefined {
  const [, value = "", signature = ""] = /^([\w-]+)\.(\d{1,9}\.[\w-]{43})$/.exec(token) ?? [];
  if (!isSigned(digest, signature, value)) return undefined;
  return Buffer.from(value, "base64url").toString().split(" ");
}

/** The space keeps it apart from the values of tokens, which are in Base64url. */
const recipientOf = (audience: string, email: string): string => `${audience} ${email}`;

/** A digest of the address that a mail is sent to. */
export const digestRecipient = (digest: KeyedDigest, audience: string, email: string): string =>
  digest.create(recipientOf(audience, email));

/** Whether the mail with this link was sent to the address. */
export const isSentTo = (
  digest: KeyedDigest,
  { audience, recipient }: { audience: string; recipient: string },
  email: string,
): boolean => isSigned(digest, recipient, recipientOf(audience, email));

function isSigned(digest: KeyedDigest, signature: string, value: string): boolean {
  try {
    return digest.matches(signature, value);
  } catch {
    // Of a key that was removed, or never existed.
    return false;
  }
}
