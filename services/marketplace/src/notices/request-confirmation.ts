import { rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { countOfAudience, findMailboxUse, insertConfirmation, lockMailbox } from "./confirmation-store.ts";
import { triedMs } from "./mail-schedule.ts";
import { noticeProblems } from "./notice-errors.ts";

const dayMs = 86_400_000;
const maxPerMailbox = 3;
/** The first, and once another link. Fewer than the mailbox's, so that nobody uses these up alone. */
const maxPerMailboxAndAudience = 2;
/** So that nobody mails strangers, two each, as often as they like. */
const maxPerAudience = 10;

/** Whose address it is, as far as one can see: case and what follows a plus sign make no other mailbox. */
export const mailboxOf = (email: string): string => email.replace(/^([^@+]+)\+[^@]*@/, "$1@").toLowerCase();

/**
 * Has a mail sent that asks to confirm the address: now, or as soon as its mailbox may get one. Unless one waits already, or the audience has had
 * its share of the mailbox's. The caller has locked the audience's settings. Throws if the audience asked for too many in a day.
 */
export async function requestConfirmation(
  transaction: Transaction<DB>,
  { audience, email, at }: { audience: string; email: string; at: Date },
): Promise<void> {
  const since = new Date(at.getTime() - dayMs);
  const mailbox = mailboxOf(email);
  await lockMailbox(transaction, mailbox);
  const limits = { since, now: at, nth: maxPerMailbox };
  const { ofAudience, isWaiting, nthLast } = await findMailboxUse(transaction, { audience, email, mailbox }, limits);
  if (isWaiting || ofAudience >= maxPerMailboxAndAudience) return;
  const { count, first } = await countOfAudience(transaction, audience, since);
  if (count >= maxPerAudience) {
    const retryAfterMs = (first ?? at).getTime() - since.getTime();
    throw rateLimitProblem(noticeProblems.tooManyConfirmations, "Nothing was changed.", {
      limit: maxPerAudience,
      retryAfterMs,
    });
  }
  const dueAt = nthLast === null ? at : new Date(nthLast.getTime() + dayMs);
  const expiresAt = new Date(dueAt.getTime() + triedMs);
  await insertConfirmation(transaction, { audience, email, mailbox, at, dueAt, expiresAt });
}
