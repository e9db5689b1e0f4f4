import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import { createMailToken, digestRecipient, readMailToken } from "./mail-token.ts";

/** What a link in a mail confirms: that notices of the audience may be mailed to the address. */
export interface Confirmation {
  audience: string;
  /** A digest of the address that the mail was sent to. */
  recipient: string;
}

/** The purpose of the digest's key. */
export const confirmationPurpose = "confirmation";

export const createConfirmationToken = (
  digest: KeyedDigest,
  { audience, email, expiresAt }: { audience: string; email: string; expiresAt: Date },
): string => createMailToken(digest, [audience, String(expiresAt.getTime()), digestRecipient(digest, audience, email)]);

/** Returns undefined for anything that we did not make, and for what has expired. */
export function readConfirmationToken(digest: KeyedDigest, token: string, now: Date): Confirmation | undefined {
  const [audience = "", expiresAt = "0", recipient = ""] = readMailToken(digest, token) ?? [];
  return Number(expiresAt) > now.getTime() ? { audience, recipient } : undefined;
}
