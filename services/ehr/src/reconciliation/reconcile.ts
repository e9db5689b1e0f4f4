import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { storeListedApps } from "../apps/store-listed-apps.ts";
import type { DB } from "../database-schema.ts";
import { type Applied, applyState } from "../installations/apply-state.ts";
import { findKnownStates, type KnownState, noteListed } from "../installations/known-states.ts";
import { holdingOrganisation, noteReconciled } from "../organisations/hold-organisation.ts";
import type { ListedSubscription, ListSubscriptions } from "./marketplace-subscriptions.ts";
import { requestReconciliation } from "./request-reconciliation.ts";

export interface Reconciling {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  listSubscriptions: ListSubscriptions;
  countCorrections: (count: number) => void;
}

export interface Reconciled {
  orgAlias: string;
  checked: number;
  changed: number;
  corrected: number;
  unlisted: number;
  reconciledAt: string;
}

/** A forged event's time can be 5 minutes ahead; until then genuine events count as older and are ignored. */
const recheckCorrectionsSeconds = 360;

/**
 * Compares what is known of an organisation with the marketplace's own list. Its records count as events of the moment when they were last
 * changed: one that arrives meanwhile and is newer wins, and one that arrives later and is older changes nothing.
 *
 * A record also replaces a state that contradicts it and claims to be newer, if that was stored before the list was requested. A genuine
 * event can't be lost by this: the marketplace sends it after the commit of the change, and reads each page of the list from the same
 * database after the request, so the list is at least as new as every genuine event that arrived before. What was known is read before the
 * list is requested, so no clocks are compared.
 */
export async function reconcile(reconciling: Reconciling, orgAlias: string): Promise<Reconciled> {
  const { database, clock, logger } = reconciling;
  const known = await findKnownStates(database, orgAlias);
  const listed = await reconciling.listSubscriptions(orgAlias);
  const live = listed.filter(isLive);
  await storeListedApps(
    database,
    live.flatMap(({ app }) => app ?? []),
    clock(),
  );
  const newlyListed = live.filter(({ id }) => known.get(id)?.isListed === false);
  if (newlyListed.length > 0) {
    await holdingOrganisation(reconciling, orgAlias, (transaction) =>
      noteListed(transaction, orgAlias, newlyListed, clock()),
    );
  }
  let [changed, corrected] = [0, 0];
  for (const subscription of listed) {
    const before = known.get(subscription.id);
    if (before !== undefined && isUpToDate(before, subscription)) continue;
    const applied = await applyOne(reconciling, subscription, before);
    if (applied.changed) changed += 1;
    if (applied.corrected) corrected += 1;
  }
  if (corrected > 0) await followUp(reconciling, orgAlias, corrected);
  const unlisted = countUnlisted(known, listed);
  if (unlisted > 0)
    logger.warn({ orgAlias, unlisted }, "the marketplace doesn't list subscriptions that are live here");
  const now = clock();
  await noteReconciled(database, orgAlias, { at: now, unlisted });
  return { orgAlias, checked: listed.length, changed, corrected, unlisted, reconciledAt: now.toISOString() };
}

const isLive = ({ status }: { status: string }): boolean => status !== "cancelled";

function isUpToDate(known: KnownState, listed: SubscriptionDto): boolean {
  const isSame = known.status === listed.status && known.appSlug === listed.appSlug;
  return isSame && known.asOf >= new Date(listed.updatedAt) && (known.isConfirmed || !isLive(listed));
}

async function followUp(reconciling: Reconciling, orgAlias: string, corrected: number): Promise<void> {
  reconciling.countCorrections(corrected);
  await reconciling.database.transaction().execute((transaction) =>
    requestReconciliation(transaction, reconciling.queue, orgAlias, {
      because: "correction",
      startAfter: recheckCorrectionsSeconds,
    }),
  );
}

/** Installed and not listed. They stay: a list can be wrong, and must not take apps away from a practice. */
function countUnlisted(known: Map<string, KnownState>, listed: SubscriptionDto[]): number {
  const ids = new Set(listed.map(({ id }) => id));
  const isUnlisted = ([id, { status, isConfirmed }]: [string, KnownState]): boolean =>
    status !== "cancelled" && isConfirmed && !ids.has(id);
  return [...known].filter(isUnlisted).length;
}

/** A transaction for each: held for all of them, the organisation's row would keep its events waiting. */
async function applyOne(
  reconciling: Reconciling,
  { id: subscriptionId, orgAlias, appSlug, status, updatedAt }: ListedSubscription,
  known: KnownState | undefined,
): Promise<Applied> {
  const { queue, clock, logger } = reconciling;
  const asOf = new Date(updatedAt);
  const applied = await holdingOrganisation(reconciling, orgAlias, (transaction) => {
    const state = { orgAlias, subscriptionId, appSlug, status, asOf, knownAsOf: known?.asOf };
    return applyState(transaction, queue, { ...state, now: clock(), isListed: true });
  });
  if (applied.corrected) {
    logger.warn(
      { orgAlias, subscriptionId, appSlug, status, stored: { appSlug: known?.appSlug, status: known?.status } },
      "corrected a subscription whose stored state contradicted the marketplace's list",
    );
  }
  return applied;
}
