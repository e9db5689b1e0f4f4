import { isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import { requestClientJob } from "../clients/request-client-job.ts";
import type { DB } from "../database-schema.ts";
import { retentionCutoff } from "./installation-retention.ts";
import { removeInstallation, upsertInstallation } from "./installation-store.ts";

/**
 * An app is installed while it has a confirmed live subscription, and then it needs a client at the authorization server. The caller holds the organisation's lock. `rescopedId` is the subscription
 * whose agreed scopes have changed: the scopes of an installation are read from it, so that the installation has changed too.
 */
export async function deriveInstallation(
  transaction: Transaction<DB>,
  queue: Queue,
  orgAlias: string,
  appSlug: string,
  now: Date,
  rescopedId: string | null = null,
): Promise<void> {
  const derived = { id: uuid(), orgAlias, appSlug, now, rescopedId, retentionCutoff: retentionCutoff(now) };
  const { isInstalled, isUnchanged } = await upsertInstallation(transaction, derived);
  const isRemoved = !isInstalled && (await removeInstallation(transaction, orgAlias, appSlug, now));
  // A draft's client may have changed with it.
  const isChanged = isInstalled && (!isUnchanged || isSandboxSlug(appSlug));
  if (isChanged || isRemoved) await requestClientJob(transaction, queue, { appSlug, orgAlias });
}
