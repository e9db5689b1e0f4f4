import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { storeListedApps } from "../apps/store-listed-apps.ts";
import type { DB } from "../database-schema.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import { recordReconciliation } from "../organisations/reconciliation-state.ts";
import { requestReconciliation } from "../organisations/request-reconciliation.ts";
import { type AppliedState, applyState } from "../subscriptions/apply-state.ts";
import { findDiffering, forgetDifferences } from "../subscriptions/differences.ts";
import { findEpoch, noteEpoch } from "../subscriptions/marketplace-epoch.ts";
import { knownPauseReason, type PauseReason } from "../subscriptions/pause-reason.ts";
import { findStoredStates, markListed, type StoredState } from "../subscriptions/stored-states.ts";
import type {
  ListedSubscription,
  ListSubscriptions,
  SkippedRecord,
  SubscriptionList,
} from "./marketplace-subscriptions.ts";

export interface ReconciliationDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  listSubscriptions: ListSubscriptions;
  countCorrections: (count: number) => void;
  countSkipped: (count: number) => void;
}

export interface ReconciliationResult {
  orgAlias: string;
  checked: number;
  changed: number;
  corrected: number;
  unlisted: number;
  withheld: number;
  skipped: number;
  reconciledAt: string;
}

/** A forged event's time can be 5 minutes ahead; until then genuine events count as older and are ignored. */
const recheckCorrectionsSeconds = 360;

/**
 * Reconciles an organisation's stored subscriptions with the marketplace's list. A listed record counts as an event at the time of its last
 * change: a newer event that arrives meanwhile wins, and an older one that arrives later changes nothing.
 *
 * A record also replaces a state that contradicts it and claims to be newer, if that was stored before the list was requested. A genuine
 * event can't be lost by this: the marketplace sends it after the commit of the change, and reads each page of the list from the same
 * database after the request, so the list is at least as new as every genuine event that arrived before. The stored states are read before
 * the list is requested, so no clocks are compared.
 *
 * This doesn't hold for events from before the marketplace's database was restored. So where the stored state is of an earlier epoch, a
 * record that would revive the subscription is withheld for an operator.
 */
export async function reconcile(deps: ReconciliationDeps, orgAlias: string): Promise<ReconciliationResult> {
  const { database, clock, logger } = deps;
  const seen = await findEpoch(database);
  const known = await findStoredStates(database, orgAlias);
  const differing = await findDiffering(database, orgAlias);
  const list = await deps.listSubscriptions(orgAlias);
  const epoch = await noteEpoch(deps, seen, list.epochs);
  const { subscriptions: listed, skipped } = list;
  if (skipped.length > 0) reportSkipped(deps, orgAlias, skipped);
  const live = listed.filter(isLive);
  await storeListedApps(
    database,
    live.flatMap(({ app }) => app ?? []),
    clock(),
  );
  const newlyListed = live.filter(({ id }) => known.get(id)?.isListed === false);
  if (newlyListed.length > 0) {
    await withOrganisationLock(deps, orgAlias, (transaction) =>
      markListed(transaction, orgAlias, newlyListed, clock()),
    );
  }
  let [changed, corrected, withheld] = [0, 0, 0];
  const settled: string[] = [];
  for (const subscription of listed) {
    const before = known.get(subscription.id);
    const applied =
      before !== undefined && isUpToDate(before, subscription)
        ? undefined
        : await applyListed(deps, subscription, before, epoch);
    if (applied?.changed) changed += 1;
    if (applied?.corrected) corrected += 1;
    if (applied?.withheld) withheld += 1;
    else if (differing.has(subscription.id)) settled.push(subscription.id);
  }
  await forgetDifferences(database, orgAlias, settled);
  if (withheld > 0)
    logger.warn({ orgAlias, withheld }, "withheld what would revive subscriptions; an operator decides");
  if (corrected > 0) await scheduleRecheck(deps, orgAlias, corrected);
  const unlisted = countUnlisted(known, list);
  if (unlisted > 0)
    logger.warn({ orgAlias, unlisted }, "found live subscriptions that the marketplace doesn't list; keeping them");
  const now = clock();
  await recordReconciliation(database, orgAlias, { at: now, unlisted });
  return {
    orgAlias,
    checked: listed.length,
    changed,
    corrected,
    unlisted,
    withheld,
    skipped: skipped.length,
    reconciledAt: now.toISOString(),
  };
}

const isLive = ({ status }: { status: string }): boolean => status !== "cancelled";

function isUpToDate(known: StoredState, listed: ListedSubscription): boolean {
  const hasSameScopes = !isLive(listed) || known.fhirScopes === (listed.fhirScopes ?? known.fhirScopes);
  const hasSameReason = listed.status !== "paused" || [undefined, known.pauseReason].includes(listedReason(listed));
  const isSame = known.status === listed.status && known.appSlug === listed.appSlug && hasSameScopes && hasSameReason;
  return isSame && known.asOf >= new Date(listed.updatedAt) && (known.isConfirmed || !isLive(listed));
}

/** Undefined if the marketplace doesn't say. */
const listedReason = ({ pauseReason }: ListedSubscription): PauseReason | null | undefined =>
  pauseReason === undefined ? undefined : knownPauseReason(pauseReason);

async function scheduleRecheck(deps: ReconciliationDeps, orgAlias: string, corrected: number): Promise<void> {
  deps.countCorrections(corrected);
  await deps.database.transaction().execute((transaction) =>
    requestReconciliation(transaction, deps.queue, orgAlias, {
      because: "correction",
      startAfter: recheckCorrectionsSeconds,
    }),
  );
}

const maxSkippedLogged = 5;

/** The stored states of skipped subscriptions stay as they are. */
function reportSkipped({ countSkipped, logger }: ReconciliationDeps, orgAlias: string, skipped: SkippedRecord[]): void {
  countSkipped(skipped.length);
  logger.error(
    { orgAlias, skipped: skipped.length, records: skipped.slice(0, maxSkippedLogged) },
    "skipped invalid records of the marketplace's list of subscriptions; retrying in the nightly run",
  );
}

/**
 * Counts installed subscriptions that aren't listed. They stay: an incomplete list must not remove apps from a practice. Skipped records are
 * listed, and each without an id may be of any subscription.
 */
function countUnlisted(known: Map<string, StoredState>, { subscriptions, skipped }: SubscriptionList): number {
  const ids = new Set([...subscriptions, ...skipped].map(({ id }) => id));
  const unidentified = skipped.filter(({ id }) => id === undefined).length;
  const isUnlisted = ([id, { status, isConfirmed }]: [string, StoredState]): boolean =>
    status !== "cancelled" && isConfirmed && !ids.has(id);
  return Math.max(0, [...known].filter(isUnlisted).length - unidentified);
}

/** Each subscription has its own transaction: one lock for all of them would delay the organisation's events. */
async function applyListed(
  deps: ReconciliationDeps,
  listed: ListedSubscription,
  known: StoredState | undefined,
  epoch: number | undefined,
): Promise<AppliedState> {
  const { id: subscriptionId, orgAlias, appSlug, status, fhirScopes, updatedAt } = listed;
  const pauseReason = listedReason(listed);
  const { queue, clock, logger } = deps;
  const asOf = new Date(updatedAt);
  const applied = await withOrganisationLock(deps, orgAlias, (transaction) => {
    const state = { orgAlias, subscriptionId, appSlug, status, pauseReason, fhirScopes, asOf };
    const compared = { storedAsOf: known?.asOf, epoch, isListed: true };
    return applyState(transaction, queue, { ...state, ...compared, now: clock() });
  });
  if (applied.corrected) {
    logger.warn(
      { orgAlias, subscriptionId, appSlug, status, stored: { appSlug: known?.appSlug, status: known?.status } },
      "corrected a subscription whose stored state contradicted the marketplace's list",
    );
  }
  return applied;
}
