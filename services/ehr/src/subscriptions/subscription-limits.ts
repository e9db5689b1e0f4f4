import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { countSubscriptions } from "./subscription-store.ts";

/**
 * Limits the subscriptions that events can create for one organisation, so that the holder of its signing secret can't fill the database.
 * Unconfirmed subscriptions have no separate limit: forged ones would then keep genuine ones out. The marketplace's list is not limited.
 */
const maxLive = 1_000;
/** Limits storage. Includes cancelled subscriptions, which are kept so that late events are recognised as outdated. */
const maxAll = 10_000;

/** Called for an event that creates a subscription, or makes a cancelled one live again. */
export async function assertWithinLimits(
  transaction: Transaction<DB>,
  orgAlias: string,
  added: { isNew: boolean; isLive: boolean },
): Promise<void> {
  const { all, live } = await countSubscriptions(transaction, orgAlias, maxAll);
  if (added.isNew && all >= maxAll) throw tooMany(`${maxAll} subscriptions, cancelled ones included`);
  if (added.isLive && live >= maxLive) throw tooMany(`${maxLive} live subscriptions`);
}

const tooMany = (what: string): Problem =>
  new Problem(
    subscriptionProblems.tooManySubscriptions,
    `The organisation already has ${what}. Events can't create more; reconciliation applies the marketplace's list.`,
  );
