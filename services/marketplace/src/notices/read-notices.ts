import type { ListNoticesQuery, NoticeDto, NoticePage } from "@ehr-marketplace/contracts";
import { listPage, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { toPage } from "./notice.ts";
import type { NoticeAudience } from "./notice-audience.ts";
import { noticeProblems } from "./notice-errors.ts";
import { findNotices, type NoticeRow, updateRead } from "./notice-store.ts";

export interface NoticeDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

const noticeRecord = (row: NoticeRow): NoticeDto => ({
  id: row.id,
  kind: row.kind,
  severity: row.severity,
  subject: row.subject,
  detail: row.detail,
  link: toPage(row.link),
  createdAt: row.created_at.toISOString(),
  readAt: row.read_at?.toISOString() ?? null,
});

export function listNotices(
  { database }: Pick<NoticeDeps, "database">,
  { key }: NoticeAudience,
  query: ListNoticesQuery,
): Promise<NoticePage> {
  return listPage(query, {
    find: (slice) => findNotices(database, { audience: key, unread: query.unread }, slice),
    getTime: (row) => row.created_at,
    toItem: noticeRecord,
  });
}

/** For everyone of the audience. The first time counts. */
export async function markNoticeRead(
  { database, clock }: NoticeDeps,
  { key }: NoticeAudience,
  id: string,
): Promise<NoticeDto> {
  const row = await updateRead(database, key, id, clock());
  if (row === undefined) throw new Problem(noticeProblems.notFound, "There is no notice with that id here.");
  return noticeRecord(row);
}
