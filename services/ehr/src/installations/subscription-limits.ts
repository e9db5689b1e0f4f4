import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { installationProblems } from "./installation-errors.ts";
import { countSubscriptions } from "./subscription-store.ts";

/**
 * What events can create for one organisation, so that the holder of its signing secret can't fill the database. Unconfirmed subscriptions
 * have no limit of their own: forged ones would then keep genuine ones out. What the marketplace itself lists is not limited.
 */
const maxLive = 1_000;
/** A bound of storage. Cancelled ones included: they are kept, so that a late event finds something newer. */
const maxAll = 10_000;

/** For an event that adds a subscription, or makes one live again. */
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
    installationProblems.tooManySubscriptions,
    `The organisation has ${what} already. Events create no more; reconciliation takes over whatever the marketplace lists.`,
  );
