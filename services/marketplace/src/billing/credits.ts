import type { ChargeLine } from "@ehr-marketplace/contracts";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findCredits, insertCredit, type NewCredit } from "./credit-store.ts";
import type { Month } from "./month.ts";

/** What is given back of a subscription's charges, with the line of its month. */
export interface Credit {
  id: string;
  subscriptionId: string;
  line: ChargeLine;
}

/** The credits of subscriptions in a month, in the order in which they were given. */
export async function readCredits(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  month: Month,
): Promise<Credit[]> {
  const rows = await findCredits(database, subscriptionIds, month);
  return rows.map(({ id, subscriptionId, amount, text }) => ({
    id,
    subscriptionId,
    line: {
      description: text,
      quantity: "-1",
      unitAmount: Number(amount),
      days: null,
      intervalDays: null,
      amount: -BigInt(amount),
    },
  }));
}

export const recordCredit = (transaction: Transaction<DB>, credit: NewCredit): Promise<void> =>
  insertCredit(transaction, credit);
