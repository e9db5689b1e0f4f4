import type { NoticeKind } from "@ehr-marketplace/contracts";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { NoticeRow } from "./notice-store.ts";

export interface ClaimedMail {
  id: string;
  audience: string;
  digest_at: Date | null;
  /** The address that it asks to confirm; null for a mail about notices. */
  confirms: string | null;
  /** With this one. Only the worker that has the last attempt may settle the mail. */
  attempts: number;
  expires_at: Date;
}

export type MailOutcome = "sent" | "failed" | "dropped";

/** Takes the mail that has been due longest, for the time of the lease. */
export async function claimMail(database: Kysely<DB>, now: Date, leaseEnd: Date): Promise<ClaimedMail | undefined> {
  const { rows } = await sql<ClaimedMail>`
    update notice_mails set due_at = ${leaseEnd}, attempts = attempts + 1
    where id = (
      select id from notice_mails where settled_at is null and due_at <= ${now}
      order by due_at, id limit 1 for update skip locked
    )
    returning id, audience, digest_at, confirms, attempts, expires_at`.execute(database);
  return rows[0];
}

interface Recipient {
  email: string;
  isConfirmed: boolean;
  muted: NoticeKind[];
}

/** The address now, and whether it is confirmed; undefined if there is none any more. */
export async function findRecipient(database: Kysely<DB>, audience: string): Promise<Recipient | undefined> {
  const { rows } = await sql<Recipient>`
    select email, muted_kinds as muted, email is not distinct from confirmed_email as "isConfirmed"
    from notice_settings where audience = ${audience} and email is not null`.execute(database);
  return rows[0];
}

/** The oldest notices of a mail that are not muted, and whether there are more. Ids grow with time, and an index has them in order. */
export async function findMailNotices(
  database: Kysely<DB>,
  { id, audience, digest_at: digestAt }: ClaimedMail,
  { muted, limit }: { muted: NoticeKind[]; limit: number },
): Promise<{ notices: NoticeRow[]; hasMore: boolean }> {
  const isIncluded =
    digestAt === null
      ? sql`id = ${id} and audience = ${audience}`
      : sql`audience = ${audience} and digest_at = ${digestAt}`;
  const { rows } = await sql<NoticeRow>`
    select * from notices
    where ${isIncluded} and kind <> all (${muted}::text[])
    order by id limit ${sql.lit(limit + 1)}`.execute(database);
  return { notices: rows.slice(0, limit), hasMore: rows.length > limit };
}

export async function settleMail(
  database: Kysely<DB>,
  { id, attempts }: ClaimedMail,
  outcome: MailOutcome,
  at: Date,
): Promise<void> {
  await sql`
    update notice_mails set outcome = ${outcome}, settled_at = ${at}
    where id = ${id} and attempts = ${attempts} and settled_at is null`.execute(database);
}

export async function postponeMail(database: Kysely<DB>, { id, attempts }: ClaimedMail, dueAt: Date): Promise<void> {
  await sql`
    update notice_mails set due_at = ${dueAt}
    where id = ${id} and attempts = ${attempts} and settled_at is null`.execute(database);
}

const maxCounted = 10_000;

/** Mails that should have been sent a minute ago; counted up to 10,000. They expire three days after they were first due. */
export async function countLateMails(database: Kysely<DB>, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from notice_mails
      where settled_at is null and expires_at < ${now}::timestamptz + interval '3 days' - interval '1 minute'
      limit ${sql.lit(maxCounted)}
    ) late`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function deleteSettledMails(database: Kysely<DB>, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from notice_mails where id = any (array(
      select id from notice_mails where settled_at is not null and settled_at < ${before} order by settled_at limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows ?? 0);
}

export async function deleteUnsentMails(database: Kysely<DB>, expiredBefore: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from notice_mails where id = any (array(
      select id from notice_mails where settled_at is null and expires_at < ${expiredBefore} order by expires_at limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows ?? 0);
}
