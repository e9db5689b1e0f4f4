import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { retentionCutoff } from "./installation-retention.ts";
import { removeInstallation, upsertInstallation } from "./installation-store.ts";

/**
 * An app is installed while it has a confirmed live subscription. The caller holds the organisation's lock. `rescopedId` is the subscription
 * whose agreed scopes have changed: the scopes of an installation are read from it, so that the installation has changed too.
 */
export async function deriveInstallation(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
  now: Date,
  rescopedId: string | null = null,
): Promise<void> {
  const derived = { id: uuid(), orgAlias, appSlug, now, rescopedId, retentionCutoff: retentionCutoff(now) };
  const isInstalled = await upsertInstallation(transaction, derived);
  if (!isInstalled) await removeInstallation(transaction, orgAlias, appSlug, now);
}
