import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteSettledMails, deleteUnsentMails } from "./mail-store.ts";
import { deleteNotices, deleteReadNotices } from "./notice-store.ts";

const dayMs = 86_400_000;
const keptDays = { read: 90, any: 400, settledMail: 7 };

/** Deletes old notices and their mails, also those that wait because no worker has a mail server. */
export async function deleteOldNotices(
  database: Kysely<DB>,
  now: Date,
  { stopped }: { stopped: AbortSignal },
): Promise<number> {
  const before = (days: number): Date => new Date(now.getTime() - days * dayMs);
  const deletions = [
    (limit: number) => deleteReadNotices(database, before(keptDays.read), limit),
    (limit: number) => deleteNotices(database, before(keptDays.any), limit),
    (limit: number) => deleteSettledMails(database, before(keptDays.settledMail), limit),
    // A day longer than they are tried
    (limit: number) => deleteUnsentMails(database, before(1), limit),
  ];
  let deleted = 0;
  for (const deletion of deletions) deleted += await runInBatches(deletion, { stopped });
  return deleted;
}
