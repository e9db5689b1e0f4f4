import type { EventApp, SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { findUnknownApps, type ToldApp } from "../apps/remember-app.ts";
import type { DB } from "../database-schema.ts";
import { applyState } from "../installations/apply-state.ts";
import { findKnownStates, type KnownState } from "../installations/known-states.ts";
import { holdingOrganisation, noteReconciled } from "../organisations/hold-organisation.ts";
import { MarketplaceAwayError } from "./marketplace-failures.ts";
import type { ListSubscriptions } from "./marketplace-subscriptions.ts";

export interface Reconciling {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  listSubscriptions: ListSubscriptions;
  /** From the marketplace's catalog; undefined where it has no such app. */
  findInCatalog: (slug: string) => Promise<EventApp | undefined>;
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
  const newer = listed.filter((each) => isNewer(each, known.get(each.id)));
  const unknownApps = await findUnknownApps(
    database,
    newer.map(({ appSlug }) => appSlug),
  );
  const fetched = new Map<string, EventApp | undefined>();
  for (const slug of unknownApps) {
    const found = await reconciling.findInCatalog(slug).catch((error: unknown) => {
      throw new MarketplaceAwayError("the marketplace's catalog can't be read", { cause: error });
    });
    fetched.set(slug, found);
  }

  let changed = 0;
  for (const subscription of newer) {
    const { appSlug } = subscription;
    // Of a subscription that an event told of, what is known of the app stays, whether or not the catalog still has it.
    const isTold = !fetched.has(appSlug) || known.has(subscription.id);
    const app = fetched.get(appSlug) ?? (isTold ? { slug: appSlug } : undefined);
    if (app === undefined)
      logger.warn({ appSlug }, "an app that is subscribed to is in no catalog; it isn't installed");
    else if (await applyOne(reconciling, subscription, app)) changed += 1;
  }
  const unlisted = countUnlisted(known, listed);
  if (unlisted > 0)
    logger.warn({ orgAlias, unlisted }, "the marketplace doesn't list subscriptions that are live here");
  const now = clock();
  await noteReconciled(database, orgAlias, now);
  return { orgAlias, checked: listed.length, changed, unlisted, reconciledAt: now.toISOString() };
}

function isNewer({ updatedAt }: SubscriptionDto, known: KnownState | undefined): boolean {
  return known === undefined || known.asOf < new Date(updatedAt);
}

/** They stay: that something isn't listed may be the list's fault, and taking apps away from a practice must not be. */
function countUnlisted(known: Map<string, KnownState>, listed: SubscriptionDto[]): number {
  const ids = new Set(listed.map(({ id }) => id));
  return [...known].filter(([id, { status }]) => status !== "cancelled" && !ids.has(id)).length;
}

/** A transaction for each: held for all of them, the organisation's row would keep its events waiting. */
function applyOne(
  reconciling: Reconciling,
  { id, orgAlias, status, updatedAt }: SubscriptionDto,
  app: ToldApp,
): Promise<boolean> {
  const { queue, clock } = reconciling;
  return holdingOrganisation(reconciling, orgAlias, (transaction) => {
    const state = { orgAlias, subscriptionId: id, app, status, asOf: new Date(updatedAt), now: clock() };
    return applyState(transaction, queue, state);
  });
}
