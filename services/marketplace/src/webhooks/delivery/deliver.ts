import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Job } from "pg-boss";
import { deliveries, leaseSeconds } from "../../queue/queues.ts";
import { type ClaimedDelivery, claimDeliveries, dropForDeleted, findNotQueued, releaseHeld } from "./claim-store.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endJobs, sendJobs } from "./jobs.ts";
import { judge, type Verdict } from "./judge.ts";
import type { Sender } from "./send/sender.ts";
import { type Settlement, type Settling, settleDelivered, settleFailed } from "./settle.ts";
import { headersFor } from "./sign.ts";

export interface Delivering extends Settling {
  seal: Seal;
  sender: Sender;
  /** Networks that vendors' endpoints may be in besides public ones. */
  vendorNetworks: string[];
  mostInFlight: number;
  mostPerRecipient: number;
  logger: Logger;
  metrics: DeliveryMetrics;
}

type DeliveryJob = Job<{ probe?: boolean }>;

const mostFetched = 100;
const mostSettledTogether = 100;
/** A job that has waited longer than this for its recipient's turn is left to its lease: another fetch will bring it. */
const patienceMs = (leaseSeconds * 1_000) / 3;

export interface Deliverer {
  /** Something may be due: look. */
  wake(): void;
  /** Takes no more, and resolves when what is out is settled. */
  stop(): Promise<void>;
}

export function startDelivering(delivering: Delivering): Deliverer {
  const { queue, database, logger, mostInFlight, mostPerRecipient } = delivering;
  const inFlight = new Map<string, number>();
  const turns: { job: DeliveryJob; fetchedAt: number }[] = [];
  const settlements: Settlement[] = [];
  let out = 0;
  let stopping = false;
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let settling: Promise<void> | undefined;
  let whenIdle: (() => void) | undefined;

  const hasRoom = (): boolean => !stopping && out < mostInFlight;
  const wantsMore = (): boolean => lookAgain && !stopping;
  const recipientOf = (job: DeliveryJob): string => job.groupId ?? job.id;
  const isFull = (recipient: string): boolean => (inFlight.get(recipient) ?? 0) >= mostPerRecipient;

  const look = async (): Promise<void> => {
    const boss = await queue.boss();
    do {
      lookAgain = false;
      startTurns();
      while (hasRoom()) {
        const busy = [...new Set([...inFlight.keys()].filter(isFull).concat(turns.map(({ job }) => recipientOf(job))))];
        const batchSize = Math.min(mostFetched, mostInFlight - out);
        const jobs: DeliveryJob[] = await boss.fetch(deliveries, { batchSize, ignoreGroups: busy });
        if (jobs.length === 0) break;
        turns.push(...jobs.map((job) => ({ job, fetchedAt: Date.now() })));
        startTurns();
        if (jobs.length < batchSize) break;
      }
    } while (wantsMore());
  };

  const wake = (): void => {
    if (stopping) return;
    lookAgain = true;
    looking ??= look()
      .catch((error: unknown) => logger.warn({ err: error }, "deliveries can't be fetched; trying again"))
      .finally(() => {
        looking = undefined;
      });
  };

  /** Starts all whose recipient has room; the others wait for their turn, without a request and without a log row. */
  const startTurns = (): void => {
    const starting: DeliveryJob[] = [];
    const waiting: typeof turns = [];
    for (const turn of turns.splice(0)) {
      const recipient = recipientOf(turn.job);
      if (Date.now() - turn.fetchedAt > patienceMs) continue;
      if (out >= mostInFlight || isFull(recipient)) {
        waiting.push(turn);
        continue;
      }
      out += 1;
      inFlight.set(recipient, (inFlight.get(recipient) ?? 0) + 1);
      starting.push(turn.job);
    }
    turns.push(...waiting);
    if (starting.length > 0) void startAll(starting);
  };

  const done = (job: DeliveryJob): void => {
    out -= 1;
    const recipient = recipientOf(job);
    const left = (inFlight.get(recipient) ?? 1) - 1;
    if (left === 0) inFlight.delete(recipient);
    else inFlight.set(recipient, left);
    if (out === 0) whenIdle?.();
    wake();
  };

  const startAll = async (jobs: DeliveryJob[]): Promise<void> => {
    const byId = new Map(jobs.map((job) => [job.id, job]));
    const probes = jobs.filter(({ data }) => data?.probe === true).map(({ id }) => id);
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await claimDeliveries(database, { ids: [...byId.keys()], probes, now: delivering.clock() });
      const sent = new Set(claimed.map(({ id }) => id));
      const unclaimed = jobs.filter(({ id }) => !sent.has(id));
      if (unclaimed.length > 0) await putBack(unclaimed);
    } catch (error) {
      logger.warn({ err: error }, "deliveries can't be claimed; their lease will bring them back");
    }
    for (const delivery of claimed) {
      const job = byId.get(delivery.id);
      if (job !== undefined) void send(delivery, job, probes.includes(delivery.id));
      byId.delete(delivery.id);
    }
    for (const job of byId.values()) done(job);
  };

  /** Those to a recipient that is held wait as rows; those that are settled need no job; any others are queued anew. */
  const putBack = async (jobs: DeliveryJob[]): Promise<void> => {
    const ids = jobs.map(({ id }) => id);
    await database.transaction().execute(async (transaction) => {
      await dropForDeleted(transaction, ids, delivering.clock());
      await releaseHeld(transaction, ids);
      const idle = new Set(await findNotQueued(transaction, ids));
      const attempts = jobs.map(({ id, retryCount }) => ({ id, retryCount }));
      const ours = await endJobs(transaction, queue, deliveries, attempts);
      const again = jobs.filter(({ id }) => !idle.has(id) && ours.has(id));
      const ready = again.map((job) => ({ id: job.id, recipient_id: recipientOf(job) }));
      await sendJobs(transaction, queue, ready);
    });
  };

  const send = async (delivery: ClaimedDelivery, job: DeliveryJob, probe: boolean): Promise<void> => {
    const verdict = await attempt(delivering, delivery);
    delivering.metrics.attempted(delivery, verdict, delivering.clock());
    settlements.push({ delivery, verdict, probe, job });
    settling ??= settleAll().finally(() => {
      settling = undefined;
    });
  };

  const settleAll = async (): Promise<void> => {
    while (settlements.length > 0) {
      const batch = settlements.splice(0, mostSettledTogether);
      const delivered = batch.filter(({ verdict }) => verdict.outcome === "delivered");
      const failed = batch.filter(({ verdict }) => verdict.outcome === "failed");
      try {
        if (delivered.length > 0) await settleDelivered(delivering, delivered);
        for (const settlement of failed) await settleFailed(delivering, settlement);
      } catch (error) {
        // It was sent and can't be settled: its log row stays `unknown`, and its lease brings it back.
        logger.warn({ err: error, deliveries: batch.length }, "deliveries can't be settled; they will be sent again");
      }
      for (const { job } of batch) done(job as DeliveryJob);
    }
  };

  return {
    wake,
    async stop() {
      stopping = true;
      turns.length = 0;
      await looking;
      await new Promise<void>((resolve) => {
        if (out === 0) resolve();
        else whenIdle = resolve;
      });
      await settling;
    },
  };
}

async function attempt(
  { seal, sender, vendorNetworks, clock }: Delivering,
  delivery: ClaimedDelivery,
): Promise<Verdict> {
  const began = performance.now();
  try {
    const allowedNetworks = delivery.kind === "ehr" ? (delivery.networks ?? []) : vendorNetworks;
    const headers = headersFor(delivery, seal, clock());
    return judge(await sender.send({ url: delivery.url, headers, body: delivery.payload, allowedNetworks }));
  } catch (error) {
    const why = error instanceof Error ? error.name : "Error";
    return {
      outcome: "failed",
      statusCode: null,
      error: `prepare: ${why}`,
      snippet: null,
      durationMs: Math.round(performance.now() - began),
      retryAfterMs: null,
      gone: false,
    };
  }
}
