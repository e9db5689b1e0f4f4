import type { Transaction } from "kysely";
import { keptDays } from "../billing/charged-days.ts";
import { keepSpendLimit } from "../billing/keep-spend-limit.ts";
import { millisecondsPerDay, toMonth } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import { rememberLateChange } from "../usage/read-late-usage.ts";
import { findPreviousSubscription } from "./subscription-store.ts";

interface NewInAccount {
  id: string;
  organisationId: string;
  appId: string;
  now: Date;
}

/**
 * An organisation's subscriptions to an app are charged as one. So a new one has the spend limit of the one before; and if that was cancelled
 * within the last seven days, the days between them are charged, also those of a month that is over.
 */
export async function continueAccount(
  transaction: Transaction<DB>,
  { id, organisationId, appId, now }: NewInAccount,
): Promise<void> {
  const previous = await findPreviousSubscription(transaction, { id, organisationId, appId });
  if (previous === undefined) return;
  await keepSpendLimit(transaction, { from: previous.id, to: id });
  const { cancelledAt } = previous;
  if (now.getTime() - cancelledAt.getTime() >= keptDays * millisecondsPerDay) return;
  const month = toMonth(cancelledAt);
  if (month < toMonth(now)) await rememberLateChange(transaction, previous.id, month, now);
}
