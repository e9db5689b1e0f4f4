import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries } from "../../queue/queues.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import { isUnsettled } from "./delivery-store.ts";
import { endJobs, planRecovery, sendJobs } from "./jobs.ts";
import type { Verdict } from "./judge.ts";
import { lockLanes, queueSuccessors } from "./queue-store.ts";
import { forgiveRecipients, lockRecipient } from "./recipient-store.ts";
import { failuresToHold, firstPace, mostFailures, waitAfter, waitForProbe } from "./retry-schedule.ts";
import { closeAttempts, findLatest, markDelivered } from "./settle-store.ts";

export interface Settling {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  random: () => number;
}

export interface Settlement {
  delivery: ClaimedDelivery;
  verdict: Verdict;
  probe: boolean;
  /** The job as it was fetched: once its lease is over and another has it, it is no longer ours to settle. */
  job: { id: string; retryCount: number };
}

const closedBy = ({ delivery, verdict }: Settlement, nextAttemptAt: Date | null) => ({
  id: delivery.attempt_id,
  startedAt: delivery.started_at,
  durationMs: verdict.durationMs,
  outcome: verdict.outcome,
  statusCode: verdict.statusCode,
  error: verdict.error,
  snippet: verdict.snippet,
  nextAttemptAt,
});

const lanesOf = (settlements: Settlement[]): { subscriptionId: string; recipientId: string }[] =>
  settlements.flatMap(({ delivery: { subscription_id, recipient_id } }) =>
    subscription_id === null ? [] : [{ subscriptionId: subscription_id, recipientId: recipient_id }],
  );

/** Neither of the two is enough: a job that is planned anew has the same id and counts its leases from nothing. */
async function stillOurs(transaction: Transaction<DB>, queue: Queue, all: Settlement[]): Promise<Settlement[]> {
  const latest = await findLatest(
    transaction,
    all.map(({ delivery }) => delivery),
  );
  const claimed = all.filter(({ delivery }) => latest.has(delivery.id));
  if (claimed.length === 0) return [];
  const jobs = claimed.map(({ job: { id, retryCount } }) => ({ id, retryCount }));
  const ours = await endJobs(transaction, queue, deliveries, jobs);
  return claimed.filter(({ job }) => ours.has(job.id));
}

/** All that was delivered, together: the log is closed, the lanes move on, and recipients that were held flow again. */
export async function settleDelivered(settling: Settling, settlements: Settlement[]): Promise<void> {
  const { database, queue, clock } = settling;
  await database.transaction().execute(async (transaction) => {
    const lanes = lanesOf(settlements);
    await lockLanes(
      transaction,
      lanes.map(({ subscriptionId }) => subscriptionId),
    );
    await closeAttempts(
      transaction,
      settlements.map((each) => closedBy(each, null)),
    );
    const ours = await stillOurs(transaction, queue, settlements);
    if (ours.length === 0) return;
    const now = clock();
    await markDelivered(
      transaction,
      ours.map(({ delivery }) => delivery.id),
      now,
    );
    const recipients = [...new Set(ours.map(({ delivery }) => delivery.recipient_id))];
    const back = await forgiveRecipients(transaction, recipients);
    for (const id of back) await planRecovery(transaction, queue, id, { pace: firstPace, startAfter: now });
    await sendJobs(transaction, queue, await queueSuccessors(transaction, lanesOf(ours)));
  });
}

/** One that failed: it is tried again later, waits with its recipient, or has failed for good and lets its lane go on. */
export async function settleFailed(settling: Settling, settlement: Settlement): Promise<void> {
  const { database, queue, clock, random } = settling;
  const { delivery, verdict, probe } = settlement;
  await database.transaction().execute(async (transaction) => {
    await lockLanes(
      transaction,
      lanesOf([settlement]).map(({ subscriptionId }) => subscriptionId),
    );
    const now = clock();
    const failures = delivery.failures + (probe ? 0 : 1);
    const wait = failures >= mostFailures ? undefined : waitAfter(Math.max(failures, 1), verdict.retryAfterMs, random);
    const nextAttemptAt = wait === undefined ? null : new Date(now.getTime() + wait);
    const ours = await stillOurs(transaction, queue, [settlement]);
    if (ours.length === 0) {
      await closeAttempts(transaction, [closedBy(settlement, null)]);
      return;
    }
    const held = await countFailure(transaction, settling, settlement, now);
    // Nobody knows when one that is held goes out next: another may be the probe.
    await closeAttempts(transaction, [closedBy(settlement, held ? null : nextAttemptAt)]);
    // One whose endpoint was deleted meanwhile is dropped, and stays so.
    const update = transaction.updateTable("deliveries").where("id", "=", delivery.id).where(isUnsettled);
    if (nextAttemptAt === null) {
      await update.set({ status: "failed", failures, settled_at: now, next_attempt_at: null }).execute();
      await sendJobs(transaction, queue, await queueSuccessors(transaction, lanesOf([settlement])));
    } else if (held) {
      await update.set({ status: "waiting", failures, next_attempt_at: null }).execute();
    } else {
      await update.set({ status: "queued", failures, next_attempt_at: nextAttemptAt }).execute();
      await sendJobs(transaction, queue, [{ ...delivery, startAfter: nextAttemptAt }]);
    }
  });
}

/** True where its recipient is held now, or disabled: then nothing goes out to it but probes, or nothing at all. */
async function countFailure(
  transaction: Transaction<DB>,
  { queue }: Settling,
  { delivery, verdict, probe }: Settlement,
  now: Date,
): Promise<boolean> {
  const recipient = await lockRecipient(transaction, delivery.recipient_id);
  const update = transaction.updateTable("recipients").where("id", "=", recipient.id);
  const failures_in_row = recipient.failures_in_row + 1;
  if (verdict.gone && recipient.kind === "endpoint") {
    const held_since = recipient.held_since ?? now;
    const disabled = { status: "disabled", disabled_at: now, disabled_because: "it answered 410 Gone", held_since };
    await update.set({ ...disabled, failures_in_row }).execute();
    return true;
  }
  if (recipient.status === "active" && failures_in_row >= failuresToHold) {
    await update.set({ status: "held", held_since: now, failures_in_row, probes: 0 }).execute();
    await planRecovery(transaction, queue, recipient.id, { startAfter: new Date(now.getTime() + waitForProbe(0)) });
    return true;
  }
  const probes = recipient.probes + (probe ? 1 : 0);
  await update.set({ failures_in_row, probes }).execute();
  if (probe) {
    const startAfter = new Date(now.getTime() + waitForProbe(probes));
    await planRecovery(transaction, queue, recipient.id, { startAfter });
  }
  return recipient.status !== "active";
}
