import { type NoticeKind, noticeKinds } from "@ehr-marketplace/contracts";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";

/** What a link in a mail mutes. */
export interface Unsubscription {
  audience: string;
  kinds: NoticeKind[];
  /** A digest of the address that the mail was sent to. */
  recipient: string;
}

/** The purpose of the digest's key. */
export const unsubscribePurpose = "unsubscribe";

/** The space keeps it apart from the values of tokens, which are in Base64url. */
const recipientOf = (audience: string, email: string): string => `${audience} ${email}`;

/**
 * What it mutes, in Base64url, and its digest: whoever has the mail has the right to mute, while mails go to the same address, and nobody can make
 * another one.
 */
export function createUnsubscribeToken(
  digest: KeyedDigest,
  { audience, kinds, email }: Omit<Unsubscription, "recipient"> & { email: string },
): string {
  const recipient = digest.create(recipientOf(audience, email));
  const value = Buffer.from(`${audience} ${kinds.join(",")} ${recipient}`).toString("base64url");
  return `${value}.${digest.create(value)}`;
}

const isKind = (text: string): text is NoticeKind => (noticeKinds as readonly string[]).includes(text);

/** Returns undefined for anything that we did not make. */
export function readUnsubscribeToken(digest: KeyedDigest, token: string): Unsubscription | undefined {
  const [, value = "", signature = ""] = /^([\w-]+)\.(\d{1,9}\.[\w-]{43})$/.exec(token) ?? [];
  if (!isSigned(digest, signature, value)) return undefined;
  const [audience = "", kinds = "", recipient = ""] = Buffer.from(value, "base64url").toString().split(" ");
  return { audience, kinds: kinds.split(",").filter(isKind), recipient };
}

/** Whether the mail with this link was sent to the address. */
export const isSentTo = (digest: KeyedDigest, { audience, recipient }: Unsubscription, email: string): boolean =>
  isSigned(digest, recipient, recipientOf(audience, email));

function isSigned(digest: KeyedDigest, signature: string, value: string): boolean {
  try {
    return digest.matches(signature, value);
  } catch {
    // Of a key that was removed, or never existed.
    return false;
  }
}
