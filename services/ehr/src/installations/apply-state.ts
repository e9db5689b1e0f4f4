import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import { rememberApp, type ToldApp } from "../apps/remember-app.ts";
import type { DB } from "../database-schema.ts";
import { configLeftSince } from "./left-configuration.ts";
import {
  type Derived,
  findSubscription,
  removeInstallation,
  showNewestLive,
  upsertSubscription,
} from "./subscription-store.ts";

export interface SubscriptionState {
  orgAlias: string;
  subscriptionId: string;
  app: ToldApp;
  status: SubscriptionDto["status"];
  /** When the subscription became so, by the marketplace's clock. */
  asOf: Date;
  now: Date;
}

/**
 * Takes over what is newer than what is known of the subscription, and brings the installation of its app into step. Whoever calls
 * holds the organisation's row. It answers whether anything was newer: in whatever order and however often states come,
 * the newest of each subscription is what stays.
 */
export async function applyState(
  transaction: Transaction<DB>,
  queue: Queue,
  state: SubscriptionState,
): Promise<boolean> {
  const { orgAlias, subscriptionId, app, status, asOf, now } = state;
  const before = await findSubscription(transaction, orgAlias, subscriptionId);
  if (before !== undefined && before.as_of >= asOf) return false;
  const isRead = await rememberApp(transaction, queue, app, now);
  await upsertSubscription(transaction, {
    org_alias: orgAlias,
    id: subscriptionId,
    app_slug: app.slug,
    status,
    as_of: asOf,
  });
  for (const appSlug of new Set([app.slug, before?.app_slug ?? app.slug])) {
    const told = !isRead && appSlug === app.slug && "name" in app ? { subscriptionId, app } : undefined;
    await bringIntoStep(transaction, { orgAlias, appSlug, told, now });
  }
  return true;
}

async function bringIntoStep(transaction: Transaction<DB>, at: Omit<Derived, "id" | "configLeftSince">): Promise<void> {
  const live = await showNewestLive(transaction, { id: uuid(), ...at, configLeftSince: configLeftSince(at.now) });
  if (!live) await removeInstallation(transaction, at.orgAlias, at.appSlug, at.now);
}
