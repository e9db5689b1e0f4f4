import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Mail } from "./compose-mail.ts";
import { createConfirmationToken } from "./confirmation-token.ts";
import { toLine } from "./notice.ts";

const dayMs = 86_400_000;
const validDays = 7;

export interface ConfirmationContext {
  /** Where the API is, without a slash at the end. */
  publicUrl: string;
  confirmationDigest: KeyedDigest;
}

export interface ConfirmationContent {
  id: string;
  audience: string;
  /** Of the practice or vendor, or of the operators. */
  name: string;
  to: string;
  /** When the mail was first due. */
  dueAt: Date;
}

/** All that an address gets before it is confirmed. The same content gives the same mail. */
export function composeConfirmation(context: ConfirmationContext, content: ConfirmationContent): Mail {
  const { publicUrl, confirmationDigest } = context;
  const { id, audience, to, dueAt } = content;
  const expiresAt = new Date(dueAt.getTime() + validDays * dayMs);
  const token = createConfirmationToken(confirmationDigest, { audience, email: to, expiresAt });
  const text = [
    `Someone entered this address to get the notices of ${toLine(content.name, 100)} from EHR Marketplace.`,
    "",
    "To confirm it, open this page and choose Confirm:",
    `${publicUrl}/notices/confirm?token=${token}`,
    "",
    `The link works for ${validDays} days. If this wasn't meant for you, ignore it: you won't get any notices.`,
  ];
  return {
    messageId: `<${id}@${new URL(publicUrl).hostname}>`,
    to,
    subject: "Confirm your email address for EHR Marketplace",
    text: `${text.join("\n")}\n`,
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
