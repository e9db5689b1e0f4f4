import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type NewNotice, subscriptionPage } from "../notices/notice.ts";
import { recordNotices } from "../notices/record-notice.ts";
import { findLiveSubscriptions, type LiveSubscription } from "../subscriptions/find-live-subscriptions.ts";
import { advanceWalk, deleteWalk, lockWalk, upsertWalk } from "./suspension-walk-store.ts";

const batchSize = 100;
/** Requests that were in progress when the app was suspended may still have subscribed to it. */
const delayMs = 15_000;

/** Has the app's subscribers told, who may be too many for the transaction that suspends it, which has locked the app's listing. */
export async function notifyOfSuspension(
  transaction: Transaction<DB>,
  { appId, at }: { appId: string; at: Date },
): Promise<void> {
  await upsertWalk(transaction, { app_id: appId, suspended_at: at });
}

/** Whoever has not been told yet need not be told anymore: the app is reinstated. */
export const stopNotifyingOfSuspension = deleteWalk;

/**
 * Tells the next subscribers of a suspended app, in a transaction with the cursor, except those whose subscription the suspension has paused: they
 * were told by that. So it waits until none is being paused. Returns false if there is nothing to do.
 */
export async function runSuspensionWalkStep({
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
    const { live, cursor } = await findLiveSubscriptions(transaction, walk.app_id, { after, limit: batchSize });
    await recordNotices(
      transaction,
      live.filter(({ isSuspended }) => !isSuspended).map((each) => noticeOf(each, walk.suspended_at, now)),
    );
    if (cursor === undefined) await deleteWalk(transaction, walk.app_id);
    else await advanceWalk(transaction, walk.app_id, cursor);
    return true;
  });
}

/** Until there is nothing to do. */
export async function runSuspensionWalks(
  deps: { database: Kysely<DB>; clock: () => Date },
  { stopped }: { stopped: AbortSignal },
): Promise<void> {
  while (!stopped.aborted && (await runSuspensionWalkStep(deps)));
}

/** The reason is not in it: it was written for others. */
const noticeOf = (
  { id, organisationId, orgAlias, appName, isActive }: LiveSubscription,
  suspendedAt: Date,
  at: Date,
): NewNotice => ({
  audience: { organisationId },
  kind: "app-suspended",
  severity: "warning",
  ...(isActive
    ? {
        subject: `${appName} is no longer offered; yours keeps working`,
        detail:
          "The marketplace suspended the app, so no other practice can subscribe to it. If you cancel, you can't subscribe again until it is reinstated.",
      }
    : {
        subject: `${appName} is suspended, and your subscription stays paused`,
        detail: "The marketplace suspended the app. You can't resume your subscription until it is reinstated.",
      }),
  link: subscriptionPage(orgAlias, id),
  key: `app-suspended:${id}:${suspendedAt.toISOString()}`,
  at,
});
