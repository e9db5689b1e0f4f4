import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";
import { beginOriginRecovery, type RecoveringOrigin } from "../recipients/apply-origin-event.ts";
import { beginRecoveries } from "../recipients/apply-recipient-event.ts";
import { firstOriginPace, firstPace, nextOriginPace, paceIntervalMs } from "../recipients/recovery-schedule.ts";
import { deleteOwnedJobs, insertJobs } from "./delivery-jobs.ts";
import { findDelivery } from "./delivery-store.ts";
import { findOriginProbe, findReleasable, queueWaiting } from "./queue-store.ts";
import type { RecoveryDeps } from "./recover-recipient.ts";

/**
 * Runs the next step of the recovery of a callback origin, whose EHRs are one host. While it is held, one of their deliveries is
 * queued as a probe, of each EHR in turn. Once it is active, each step queues the waiting deliveries of twice as many EHRs.
 */
export async function recoverOrigin(
  { database, queue, clock }: RecoveryDeps,
  job: { id: string; retryCount: number },
  { pace = firstOriginPace, after }: { pace?: number; after?: string },
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const isOwned = async (): Promise<boolean> =>
      (await deleteOwnedJobs(transaction, queue, recoveries, [job])).size > 0;
    const next = new Date(clock().getTime() + paceIntervalMs);
    const origin = await beginOriginRecovery(transaction, queue, job.id, isOwned);
    if (origin?.action === "send-probe") await sendProbe(transaction, queue, origin, next);
    if (origin?.action === "release-waiting")
      await releaseRecipients(transaction, queue, origin, { pace, after, next });
  });
}

async function sendProbe(
  transaction: Transaction<DB>,
  queue: Queue,
  origin: RecoveringOrigin,
  next: Date,
): Promise<void> {
  let found = await findNextProbe(transaction, origin);
  if (found === undefined) {
    await origin.waitForWriters();
    found = await findNextProbe(transaction, origin);
  }
  // Nothing is waiting that could be a probe: the next event shows whether the host works.
  if (found === undefined) return origin.reactivate();
  const [probe] = await queueWaiting(transaction, [found]);
  // Another transaction has locked the delivery.
  if (probe === undefined) return origin.continueAt(next, { pace: firstOriginPace });
  await origin.setProbe(probe.id);
  await insertJobs(transaction, queue, [{ ...probe, probe: true }]);
}

/** A delivery of the EHR after the one that was probed last; after the last of them, the first again. */
async function findNextProbe(
  transaction: Transaction<DB>,
  { origin, probed_id }: RecoveringOrigin,
): Promise<string | undefined> {
  const last = probed_id === null ? undefined : await findDelivery(transaction, probed_id);
  return (
    (await findOriginProbe(transaction, origin, last?.recipient_id)) ??
    (await findOriginProbe(transaction, origin, undefined))
  );
}

async function releaseRecipients(
  transaction: Transaction<DB>,
  queue: Queue,
  { origin, waitForWriters, continueAt }: RecoveringOrigin,
  { pace, after, next }: { pace: number; after: string | undefined; next: Date },
): Promise<void> {
  if (after === undefined) await waitForWriters();
  const recipients = await findReleasable(transaction, origin, { after, limit: pace, maxReady: firstPace });
  const open = recipients.filter(
    ({ status, crowded, ready }) => status === "active" && !crowded && ready.length < firstPace,
  );
  const queued = await queueWaiting(
    transaction,
    open.flatMap(({ ready }) => ready),
  );
  await insertJobs(transaction, queue, queued);
  const queuedIds = new Set(queued.map(({ id }) => id));
  const isReleased = new Set(open.filter(({ ready }) => ready.every((id) => queuedIds.has(id))).map(({ id }) => id));
  // Those that are held themselves, or have more waiting deliveries, recover on their own.
  await beginRecoveries(
    transaction,
    queue,
    recipients.map(({ id }) => id).filter((id) => !isReleased.has(id)),
    next,
  );
  if (recipients.length === pace) await continueAt(next, { pace: nextOriginPace(pace), after: recipients.at(-1)?.id });
}
