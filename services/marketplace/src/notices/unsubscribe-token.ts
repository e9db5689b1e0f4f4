import { type NoticeKind, noticeKinds } from "@ehr-marketplace/contracts";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import { createMailToken, digestRecipient, readMailToken } from "./mail-token.ts";

/** What a link in a mail mutes. */
export interface Unsubscription {
  audience: string;
  kinds: NoticeKind[];
  /** A digest of the address that the mail was sent to. */
  recipient: string;
}

/** The purpose of the digest's key. */
export const unsubscribePurpose = "unsubscribe";

export const createUnsubscribeToken = (
  digest: KeyedDigest,
  { audience, kinds, email }: Omit<Unsubscription, "recipient"> & { email: string },
): string => createMailToken(digest, [audience, kinds.join(","), digestRecipient(digest, audience, email)]);

const isKind = (text: string): text is NoticeKind => (noticeKinds as readonly string[]).includes(text);

/** Returns undefined for anything that we did not make. */
export function readUnsubscribeToken(digest: KeyedDigest, token: string): Unsubscription | undefined {
  const texts = readMailToken(digest, token);
  if (texts === undefined) return undefined;
  const [audience = "", kinds = "", recipient = ""] = texts;
  return { audience, kinds: kinds.split(",").filter(isKind), recipient };
}
