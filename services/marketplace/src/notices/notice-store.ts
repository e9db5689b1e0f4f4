import type { NoticeKind, NoticeSeverity } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Notices } from "../database-schema.ts";

/** The table's check constraints allow no other kinds and severities. */
export type NoticeRow = Omit<Selectable<Notices>, "kind" | "severity"> & { kind: NoticeKind; severity: NoticeSeverity };

export interface NewNoticeRow {
  id: string;
  audience: string;
  kind: string;
  severity: string;
  subject: string;
  detail: string;
  link: string | null;
  key: string;
  created_at: Date;
  /** The mail that the audience's next digest gets, if there is none yet. */
  digest_id: string;
  next_digest: Date;
}

/** Besides digests. What is more than that is listed in the digest. */
const maxMailsPerHour = 20;

/**
 * Inserts the notices that the audience was not told of before, and their mails. Always in the order of audience and key, so that two
 * transactions with the same audiences can't deadlock.
 */
export async function insertNotices(transaction: Transaction<DB>, rows: NewNoticeRow[]): Promise<void> {
  await sql`
    with planned as (
      select given.*, settings.audience is not null as is_mailed,
        case
          when settings.audience is null then null
          when severity = 'info' then next_digest
          when (
            select count(*) from (
              select from notice_mails mail
              where mail.audience = given.audience and mail.digest_at is null and mail.confirms is null
                and mail.created_at > given.created_at - interval '1 hour'
              limit ${sql.lit(maxMailsPerHour)}
            ) recent
          ) >= ${sql.lit(maxMailsPerHour)} then next_digest
        end as digest_at
      from json_to_recordset(${JSON.stringify(rows)}::json) as given(id uuid, audience text, kind text, severity text,
        subject text, detail text, link text, key text, created_at timestamptz, digest_id uuid, next_digest timestamptz)
      left join notice_settings settings on settings.audience = given.audience and settings.email = settings.confirmed_email
        and not given.kind = any (settings.muted_kinds)
    ), recorded as (
      insert into notices (id, audience, kind, severity, subject, detail, link, key, created_at, digest_at)
      select id, audience, kind, severity, subject, detail, link, key, created_at, digest_at from planned
      order by audience collate "C", key collate "C"
      on conflict (audience, key) do nothing
      returning id
    )
    insert into notice_mails (id, audience, digest_at, created_at, due_at, expires_at)
    select case when digest_at is null then id else digest_id end, audience, digest_at, created_at,
      coalesce(digest_at, created_at), coalesce(digest_at, created_at) + interval '3 days'
    from planned join recorded using (id)
    where is_mailed
    order by audience collate "C", id
    on conflict (audience, digest_at) do nothing`.execute(transaction);
}

/** Newest first. */
export async function findNotices(
  database: Kysely<DB>,
  { audience, unread }: { audience: string; unread: boolean },
  { after, limit }: PageSlice,
): Promise<NoticeRow[]> {
  const { rows } = await sql<NoticeRow>`
    select * from notices
    where audience = ${audience} ${unread ? sql`and read_at is null` : sql``}
      ${after === undefined ? sql`` : sql`and (created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by created_at desc, id desc limit ${sql.lit(limit)}`.execute(database);
  return rows;
}

/** Returns undefined if the audience has no such notice. */
export async function updateRead(
  database: Kysely<DB>,
  audience: string,
  id: string,
  at: Date,
): Promise<NoticeRow | undefined> {
  const { rows } = await sql<NoticeRow>`
    update notices set read_at = coalesce(read_at, ${at}) where id = ${id} and audience = ${audience}
    returning *`.execute(database);
  return rows[0];
}

const deleteOf = async (database: Kysely<DB>, condition: RawBuilder<boolean>, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`
    delete from notices where id = any (array(select id from notices where ${condition} order by created_at limit ${limit}))`.execute(
    database,
  );
  return Number(numAffectedRows ?? 0);
};

export const deleteReadNotices = (database: Kysely<DB>, before: Date, limit: number): Promise<number> =>
  deleteOf(database, sql`read_at is not null and created_at < ${before}`, limit);

export const deleteNotices = (database: Kysely<DB>, before: Date, limit: number): Promise<number> =>
  deleteOf(database, sql`created_at < ${before}`, limit);
