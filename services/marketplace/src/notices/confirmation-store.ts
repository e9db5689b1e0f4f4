import { sql, type Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";

/** Serialises the requests of all audiences for mails to one mailbox, so that their number is bounded. */
export async function lockMailbox(transaction: Transaction<DB>, mailbox: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`confirmations to ${mailbox}`}, 0))`.execute(transaction);
}

/** The confirmations that a mailbox got since some time, and those that it may still get. */
export interface MailboxUse {
  ofAudience: number;
  /** Whether the audience's address will still get one. */
  isWaiting: boolean;
  /** When the nth last of them was sent, or is sent at the latest. Null if there are fewer. */
  nthLast: Date | null;
}

/** A mail that waits counts with the end of its time, so that an outage doesn't bring it together with later ones. */
export async function findMailboxUse(
  transaction: Transaction<DB>,
  { audience, email, mailbox }: { audience: string; email: string; mailbox: string },
  { since, now, nth }: { since: Date; now: Date; nth: number },
): Promise<MailboxUse> {
  const { rows } = await sql<MailboxUse>`
    select count(*) filter (where audience = ${audience})::int as "ofAudience",
      coalesce(bool_or(audience = ${audience} and confirms = ${email} and outcome is null and expires_at > ${now}), false) as "isWaiting",
      (array_agg(latest order by latest desc))[${sql.lit(nth)}] as "nthLast"
    from (select *, coalesce(settled_at, expires_at) as latest from notice_mails where mailbox = ${mailbox}) mails
    where (outcome is null or outcome = 'sent') and latest > ${since}`.execute(transaction);
  return rows[0] ?? { ofAudience: 0, isWaiting: false, nthLast: null };
}

/** How many confirmations an audience has asked for since then, and when it asked for the first. */
export async function countOfAudience(
  transaction: Transaction<DB>,
  audience: string,
  since: Date,
): Promise<{ count: number; first: Date | null }> {
  const { rows } = await sql<{ count: number; first: Date | null }>`
    select count(*)::int as count, min(created_at) as first from notice_mails
    where audience = ${audience} and digest_at is null and mailbox is not null and created_at > ${since}`.execute(
    transaction,
  );
  return rows[0] ?? { count: 0, first: null };
}

export async function insertConfirmation(
  transaction: Transaction<DB>,
  {
    audience,
    email,
    mailbox,
    at,
    dueAt,
    expiresAt,
  }: { audience: string; email: string; mailbox: string; at: Date; dueAt: Date; expiresAt: Date },
): Promise<void> {
  await transaction
    .insertInto("notice_mails")
    .values({ id: uuid(), audience, confirms: email, mailbox, created_at: at, due_at: dueAt, expires_at: expiresAt })
    .execute();
}
