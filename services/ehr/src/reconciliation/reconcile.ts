import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { storeListedApps } from "../apps/store-listed-apps.ts";
import type { DB } from "../database-schema.ts";
import { applyState } from "../installations/apply-state.ts";
import { findKnownStates, type KnownState } from "../installations/known-states.ts";
import { holdingOrganisation, noteReconciled } from "../organisations/hold-organisation.ts";
import type { ListSubscriptions } from "./marketplace-subscriptions.ts";

export interface Reconciling {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  listSubscriptions: ListSubscriptions;
}

export interface Reconciled {
  orgAlias: string;
  checked: number;
  changed: number;
  unlisted: number;
  reconciledAt: string;
}

/**
 * Holds what is known of an organisation against the marketplace's own list. Its records count as events of the moment when
 * they were last changed: one that arrives meanwhile and is newer wins, and one that arrives later and is older changes
 * nothing.
 */
export async function reconcile(reconciling: Reconciling, orgAlias: string): Promise<Reconciled> {
  const { database, clock, logger } = reconciling;
  const known = await findKnownStates(database, orgAlias);
  const listed = await reconciling.listSubscriptions(orgAlias);
  const isLive = ({ status }: { status: string }): boolean => status !== "cancelled";
  await storeListedApps(
    database,
    listed.filter(isLive).flatMap(({ app }) => app ?? []),
    clock(),
  );
  let changed = 0;
  for (const subscription of listed) {
    const before = known.get(subscription.id);
    const isUnconfirmed = isLive(subscription) && before?.isConfirmed === false;
    if (!isNewer(subscription, before) && !isUnconfirmed) continue;
    if (await applyOne(reconciling, subscription)) changed += 1;
  }
  const unlisted = countUnlisted(known, listed);
  if (unlisted > 0)
    logger.warn({ orgAlias, unlisted }, "the marketplace doesn't list subscriptions that are live here");
  const now = clock();
  await noteReconciled(database, orgAlias, { at: now, unlisted });
  return { orgAlias, checked: listed.length, changed, unlisted, reconciledAt: now.toISOString() };
}

function isNewer({ updatedAt }: SubscriptionDto, known: KnownState | undefined): boolean {
  return known === undefined || known.asOf < new Date(updatedAt);
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
  { id: subscriptionId, orgAlias, appSlug, status, updatedAt }: SubscriptionDto,
): Promise<boolean> {
  const { queue, clock } = reconciling;
  const { changed } = await holdingOrganisation(reconciling, orgAlias, (transaction) => {
    const asOf = new Date(updatedAt);
    const state = { orgAlias, subscriptionId, appSlug, status, asOf, now: clock(), isListed: true };
    return applyState(transaction, queue, state);
  });
  return changed;
}
