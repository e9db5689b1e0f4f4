import { rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  type Counted,
  countOfAudience,
  countOfMailbox,
  insertConfirmation,
  lockMailbox,
} from "./confirmation-store.ts";
import { triedMs } from "./mail-schedule.ts";
import { noticeProblems } from "./notice-errors.ts";

const dayMs = 86_400_000;
const maxPerMailbox = 3;
/** So that nobody mails strangers, three each, as often as they like. */
const maxPerAudience = 10;

/** Whose address it is, as far as one can see: case and what follows a plus sign make no other mailbox. */
export const mailboxOf = (email: string): string => email.replace(/^([^@+]+)\+[^@]*@/, "$1@").toLowerCase();

/**
 * Has a mail sent that asks to confirm the address. The caller has locked the audience's settings. Throws if the mailbox, from all audiences, or the
 * audience had too many of them in a day.
 */
export async function requestConfirmation(
  transaction: Transaction<DB>,
  { audience, email, at }: { audience: string; email: string; at: Date },
): Promise<void> {
  const since = new Date(at.getTime() - dayMs);
  const mailbox = mailboxOf(email);
  requireFewer(await countOfAudience(transaction, audience, since), maxPerAudience, at);
  await lockMailbox(transaction, mailbox);
  requireFewer(await countOfMailbox(transaction, mailbox, { since, now: at }), maxPerMailbox, at);
  await insertConfirmation(transaction, { audience, email, mailbox, at, expiresAt: new Date(at.getTime() + triedMs) });
}

/** The same words for both limits, so that nobody learns whether others have named the address. */
function requireFewer({ count, oldest }: Counted, limit: number, at: Date): void {
  if (count < limit) return;
  const retryAfterMs = (oldest ?? at).getTime() + dayMs - at.getTime();
  throw rateLimitProblem(noticeProblems.tooManyConfirmations, "Nothing was changed.", { limit, retryAfterMs });
}
