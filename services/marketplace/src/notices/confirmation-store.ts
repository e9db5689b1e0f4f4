import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";

/** Serialises the requests of all audiences for mails to one mailbox, so that their number is bounded. */
export async function lockMailbox(transaction: Transaction<DB>, mailbox: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`confirmations to ${mailbox}`}, 0))`.execute(transaction);
}

/** How many mails count toward a limit, and when the first of them stops to count, if it is sent as planned. */
export interface Counted {
  count: number;
  oldest: Date | null;
}

async function countOf(database: Kysely<DB>, condition: RawBuilder<boolean>): Promise<Counted> {
  const { rows } = await sql<Counted>`
    select count(*)::int as count, min(coalesce(settled_at, created_at)) as oldest from notice_mails where ${condition}`.execute(
    database,
  );
  return rows[0] ?? { count: 0, oldest: null };
}

/** Those that a mailbox got since then, and those that it may still get. So it never gets more of them in such a time than are allowed at once. */
export const countOfMailbox = (
  database: Kysely<DB>,
  mailbox: string,
  { since, now }: { since: Date; now: Date },
): Promise<Counted> =>
  countOf(
    database,
    sql<boolean>`mailbox = ${mailbox}
      and ((settled_at is null and expires_at > ${now}) or (outcome = 'sent' and settled_at > ${since}))`,
  );

/** Those that an audience has asked for since then. */
export const countOfAudience = (database: Kysely<DB>, audience: string, since: Date): Promise<Counted> =>
  countOf(
    database,
    sql<boolean>`audience = ${audience} and digest_at is null and mailbox is not null and created_at > ${since}`,
  );

export async function insertConfirmation(
  transaction: Transaction<DB>,
  {
    audience,
    email,
    mailbox,
    at,
    expiresAt,
  }: { audience: string; email: string; mailbox: string; at: Date; expiresAt: Date },
): Promise<void> {
  await transaction
    .insertInto("notice_mails")
    .values({ id: uuid(), audience, confirms: email, mailbox, created_at: at, due_at: at, expires_at: expiresAt })
    .execute();
}
