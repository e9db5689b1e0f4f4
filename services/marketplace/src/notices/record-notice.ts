import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { audienceKey, type NewNotice, nextDigest, toLine } from "./notice.ts";
import { insertNotices } from "./notice-store.ts";

const maxSubject = 200;
const maxDetail = 1_000;

/**
 * Tells an audience something once, in the transaction of the change. What the audience was told before, by the notice's key, is ignored. If
 * the audience has a confirmed address, and has not muted the kind, it is mailed: at once, or in the next digest.
 */
export async function recordNotice(transaction: Transaction<DB>, notice: NewNotice): Promise<void> {
  await recordNotices(transaction, [notice]);
}

/** The same for a batch, in one statement. */
export async function recordNotices(transaction: Transaction<DB>, notices: NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await insertNotices(
    transaction,
    notices.map((notice) => ({
      id: uuid(),
      audience: audienceKey(notice.audience),
      kind: notice.kind,
      severity: notice.severity,
      subject: toLine(notice.subject, maxSubject),
      detail: toLine(notice.detail, maxDetail),
      link: notice.link,
      key: notice.key,
      created_at: notice.at,
      digest_id: uuid(),
      next_digest: nextDigest(notice.at),
    })),
  );
}
