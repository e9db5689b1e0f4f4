import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";
import { recoverByThemselves } from "../recipients/apply-recipient-event.ts";
import { beginOriginRecovery, type RecoveringOrigin } from "../recipients/begin-recovery.ts";
import type { RecoveryStep } from "../recipients/recovery-jobs.ts";
import { firstOriginPace, firstPace, nextOriginPace, paceIntervalMs } from "../recipients/recovery-schedule.ts";
import { deleteOwnedJobs, insertJobs } from "./delivery-jobs.ts";
import { findDelivery } from "./delivery-store.ts";
import type { RecoveryDeps } from "./recover-recipient.ts";
import {
  countQueuedOfOrigin,
  findOriginProbe,
  findReleasable,
  queueWaiting,
  type ReleasableRecipient,
} from "./recovery-store.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";

/**
 * Runs the next step of the recovery of a callback origin, which many EHRs share. While it is held, one of their deliveries is queued as
 * a probe, of each EHR in turn. Once it is active, each step queues the waiting deliveries of twice as many EHRs.
 */
export async function recoverOrigin(
  { database, queue, clock }: RecoveryDeps,
  job: { id: string; retryCount: number },
  step: RecoveryStep,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const isOwned = async (): Promise<boolean> =>
      (await deleteOwnedJobs(transaction, queue, recoveries, [job])).size > 0;
    const now = clock();
    const next = new Date(now.getTime() + paceIntervalMs);
    const origin = await beginOriginRecovery(transaction, queue, job.id, now, isOwned);
    if (origin?.action === "send-probe") await sendProbe(transaction, queue, origin, next);
    if (origin?.action === "release-waiting") await releaseRecipients(transaction, queue, origin, step, next);
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
  if (probe === undefined) return origin.continueAt({ startAfter: next });
  await origin.setProbe(probe.id);
  await insertJobs(transaction, queue, [{ ...probe, probe: true }]);
}

/** A delivery of the next EHR in turn. EHRs that are held by themselves say little about the host: they come last. */
async function findNextProbe(
  transaction: Transaction<DB>,
  { origin, probed_id }: RecoveringOrigin,
): Promise<string | undefined> {
  const last = probed_id === null ? undefined : await findDelivery(transaction, probed_id);
  for (const status of ["active", "held"] as const) {
    const found =
      (await findOriginProbe(transaction, origin, { status, after: last?.recipient_id })) ??
      (await findOriginProbe(transaction, origin, { status, after: undefined }));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function releaseRecipients(
  transaction: Transaction<DB>,
  queue: Queue,
  origin: RecoveringOrigin,
  { pace = firstOriginPace, after, heldSince }: RecoveryStep,
  next: Date,
): Promise<void> {
  const outageBegan = heldSince === undefined ? next : new Date(heldSince);
  if (after === undefined) await origin.waitForWriters();
  // So that the deliveries of a slow host don't delay those of others.
  const queuedBefore = await countQueuedOfOrigin(transaction, origin.origin);
  const limit = Math.min(pace, maxQueuedPerRecipient - queuedBefore);
  if (limit <= 0) return origin.continueAt({ startAfter: next, pace, after, heldSince: outageBegan });
  const recipients = await findReleasable(transaction, origin.origin, { after, limit, maxReady: firstPace });
  const releasable = recipients.filter(isReleasedHere);
  const queued = await queueWaiting(
    transaction,
    releasable.flatMap(({ ready }) => ready),
  );
  await insertJobs(transaction, queue, queued);
  const queuedIds = new Set(queued.map(({ id }) => id));
  const released = new Set(
    releasable.filter(({ ready }) => ready.every((id) => queuedIds.has(id))).map(({ id }) => id),
  );
  // The others recover by themselves, from now on. Those that were held before the outage keep their own schedule.
  const wasHeldBefore = (each: ReleasableRecipient): boolean =>
    each.status === "held" && each.heldSince !== null && each.heldSince < outageBegan;
  const others = recipients.filter((each) => !released.has(each.id) && !wasHeldBefore(each));
  await recoverByThemselves(
    transaction,
    queue,
    others.map(({ id }) => id),
    next,
  );
  if (recipients.length < limit) return;
  await origin.continueAt({
    startAfter: next,
    pace: nextOriginPace(pace),
    after: recipients.at(-1)?.id,
    heldSince: outageBegan,
  });
}

const isReleasedHere = ({ status, crowded, ready }: ReleasableRecipient): boolean =>
  status === "active" && !crowded && ready.length < firstPace;
