import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { formatInstant, type NewNotice } from "../notices/notice.ts";
import { recordNotices } from "../notices/record-notice.ts";
import { addBusinessDays } from "./business-days.ts";
import { type DueReview, findUnnoticedReviews } from "./review-store.ts";

/** A review is due after ten business days; the operators are told at eight, as the alert does. */
export const businessDaysBeforeDue = 2;

/** Tells the operators once of each open review that is due soon, and once of each that is overdue. */
export async function notifyOfDueReviews(database: Kysely<DB>, now: Date): Promise<number> {
  const soon = { stage: "review-due", from: now, to: addBusinessDays(now, businessDaysBeforeDue) };
  const overdue = { stage: "review-overdue", from: new Date(0), to: now };
  let noticed = 0;
  for (const range of [soon, overdue]) {
    noticed += await runInTransactions(database, async (transaction, limit) => {
      const due = await findUnnoticedReviews(transaction, range, limit);
      await recordNotices(
        transaction,
        due.map((review) => ({
          audience: "operators",
          kind: "review-due",
          ...(range === soon ? dueSoon(review) : wasDue(review)),
          link: null,
          key: `${range.stage}:${review.id}`,
          at: now,
        })),
      );
      return due.length;
    });
  }
  return noticed;
}

type Told = Pick<NewNotice, "severity" | "subject" | "detail">;

const dueSoon = ({ name, number, due_at: dueAt }: DueReview): Told => ({
  severity: "warning",
  subject: `${name}: the review of revision ${number} is due soon`,
  detail: `Approve or reject it by ${formatInstant(dueAt)}.`,
});

const wasDue = ({ name, number, due_at: dueAt }: DueReview): Told => ({
  severity: "critical",
  subject: `${name}: the review of revision ${number} is overdue`,
  detail: `It was due on ${formatInstant(dueAt)}, and the vendor is waiting. Approve or reject it.`,
});
