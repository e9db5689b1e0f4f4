import type { Transaction } from "kysely";
import { isContinued } from "../billing/charged-days.ts";
import { keepSpendLimit } from "../billing/keep-spend-limit.ts";
import { toMonth } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import { rememberLateChange } from "../usage/read-late-usage.ts";
import { findPreviousSubscription } from "./subscription-store.ts";

interface NewInAccount {
  id: string;
  organisationId: string;
  appId: string;
  currency: string;
  now: Date;
}

/**
 * An organisation's subscriptions to an app in one currency are charged as one. So a new one has the spend limit of the one
 * before; and if that was cancelled within the last seven days, the days between them are charged, also those of a month that is over.
 */
export async function continueAccount(
  transaction: Transaction<DB>,
  { id, organisationId, appId, currency, now }: NewInAccount,
): Promise<{ isContinued: boolean }> {
  const previous = await findPreviousSubscription(transaction, { id, organisationId, appId, currency });
  if (previous === undefined) return { isContinued: false };
  await keepSpendLimit(transaction, { from: previous.id, to: id });
  const month = toMonth(previous.cancelledAt);
  if (isContinued(previous, { createdAt: now }) && month < toMonth(now)) {
    await rememberLateChange(transaction, previous.id, month, now);
  }
  return { isContinued: true };
}
