import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { recordNotices } from "../notices/record-notice.ts";
import { addBusinessDays } from "./business-days.ts";
import { findUnnoticedDueReviews } from "./review-store.ts";

/** A review is due after ten business days; the operators are told at eight, as the alert does. */
export const businessDaysBeforeDue = 2;

/** Tells the operators once of each open review that is due soon. */
export function notifyOfDueReviews(database: Kysely<DB>, now: Date): Promise<number> {
  const dueBefore = addBusinessDays(now, businessDaysBeforeDue);
  return runInTransactions(database, async (transaction, limit) => {
    const due = await findUnnoticedDueReviews(transaction, dueBefore, limit);
    await recordNotices(
      transaction,
      due.map(({ id, name, number, due_at: dueAt }) => ({
        audience: "operators",
        kind: "review-due",
        severity: "warning",
        subject: `${name}: the review of revision ${number} is due`,
        detail: `Approve or reject it before ${dueAt.toISOString()}.`,
        link: `/api/v1/admin/reviews/${id}`,
        key: `review-due:${id}`,
        at: now,
      })),
    );
    return due.length;
  });
}
