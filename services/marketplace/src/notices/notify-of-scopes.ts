import { missingScopes } from "@ehr-marketplace/listing-rules/scopes";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findPendingScopes } from "../subscriptions/find-pending-scopes.ts";
import { subscriptionPage } from "./notice.ts";
import { recordNotices } from "./record-notice.ts";
import { advanceWalk, deleteWalk, lockWalk, upsertWalk } from "./scope-walk-store.ts";

const batchSize = 100;
/** Requests that were in progress when the revision was published may still have agreed to the scopes from before. */
const delayMs = 15_000;

/** If a publication adds scopes: has the app's subscribers told, who may be too many for the transaction that publishes it. */
export async function notifyOfAddedScopes(
  transaction: Transaction<DB>,
  published: { appId: string; revision: number; before: string; after: string; at: Date },
): Promise<void> {
  const { appId, revision, before, after, at } = published;
  if (missingScopes(after, before).length === 0) return;
  await upsertWalk(transaction, { app_id: appId, revision, published_at: at });
}

/** Tells the next subscribers of a publication, in a transaction with the cursor. Returns false if there is nothing to do. */
export async function runScopeWalkStep({
  database,
  clock,
}: {
  database: Kysely<DB>;
  clock: () => Date;
}): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const now = clock();
    const walk = await lockWalk(transaction, new Date(now.getTime() - delayMs));
    if (walk === undefined) return false;
    const after =
      walk.cursor_at === null || walk.cursor_id === null
        ? undefined
        : { created_at: walk.cursor_at, id: walk.cursor_id };
    const { pending, cursor } = await findPendingScopes(transaction, walk.app_id, { after, limit: batchSize });
    await recordNotices(
      transaction,
      pending.map(({ id, organisationId, orgAlias, appName }) => ({
        audience: { organisationId },
        kind: "scopes-pending",
        severity: "warning",
        subject: `${appName} asks for more access`,
        detail:
          "Its new version asks for access that your practice hasn't agreed to. Until an admin agrees, the app keeps the access it has.",
        link: subscriptionPage(orgAlias, id),
        key: `scopes-pending:${id}:${walk.revision}`,
        at: now,
      })),
    );
    if (cursor === undefined) await deleteWalk(transaction, walk.app_id);
    else await advanceWalk(transaction, walk.app_id, cursor);
    return true;
  });
}

/** Until there is nothing to do. */
export async function runScopeWalks(
  deps: { database: Kysely<DB>; clock: () => Date },
  { stopped }: { stopped: AbortSignal },
): Promise<void> {
  while (!stopped.aborted && (await runScopeWalkStep(deps)));
}
