import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Job } from "pg-boss";
import { deliveries, leaseSeconds } from "../../queue/queues.ts";
import { type ClaimedDelivery, claimDeliveries, dropForDeleted, findNotQueued, releaseHeld } from "./claim-store.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { endJobs, sendJobs } from "./jobs.ts";
import { judge, type Verdict } from "./judge.ts";
import { createPlaces } from "./places.ts";
import type { Sender } from "./send/sender.ts";
import type { Settling } from "./settle.ts";
import { createSettleLines } from "./settle-lines.ts";
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
interface Started {
  job: DeliveryJob;
  /** Gives its place back. */
  leave: () => void;
}

const mostFetched = 100;
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
  const turns: { job: DeliveryJob; fetchedAt: number }[] = [];
  let stopping = false;
  let looking: Promise<void> | undefined;
  let lookAgain = false;

  const wake = (): void => {
    if (stopping) return;
    lookAgain = true;
    looking ??= look()
      .catch((error: unknown) => logger.warn({ err: error }, "deliveries can't be fetched; trying again"))
      .finally(() => {
        looking = undefined;
      });
  };
  const places = createPlaces({ mostInFlight, mostPerRecipient, onFree: wake });
  const settleLines = createSettleLines(delivering);

  const hasRoom = (): boolean => !stopping && places.free() > 0;
  const wantsMore = (): boolean => lookAgain && !stopping;
  const recipientOf = (job: DeliveryJob): string => job.groupId ?? job.id;

  const look = async (): Promise<void> => {
    const boss = await queue.boss();
    do {
      lookAgain = false;
      startTurns();
      while (hasRoom()) {
        const waiting = turns.map(({ job }) => recipientOf(job));
        const ignoreGroups = [...new Set([...places.fullRecipients(), ...waiting])];
        const batchSize = Math.min(mostFetched, places.free());
        const jobs: DeliveryJob[] = await boss.fetch(deliveries, { batchSize, ignoreGroups });
        if (jobs.length === 0) break;
        turns.push(...jobs.map((job) => ({ job, fetchedAt: Date.now() })));
        startTurns();
        if (jobs.length < batchSize) break;
      }
    } while (wantsMore());
  };

  /** Starts all whose recipient has room; the others wait for their turn, without a request and without a log row. */
  const startTurns = (): void => {
    const starting: Started[] = [];
    const waiting: typeof turns = [];
    for (const turn of turns.splice(0)) {
      const { job } = turn;
      const recipient = recipientOf(job);
      if (Date.now() - turn.fetchedAt > patienceMs) continue;
      if (places.free() <= 0 || places.isFull(recipient)) {
        waiting.push(turn);
        continue;
      }
      starting.push({ job, leave: places.take(recipient) });
    }
    turns.push(...waiting);
    if (starting.length > 0) void startAll(starting);
  };

  const startAll = async (starting: Started[]): Promise<void> => {
    const jobs = starting.map(({ job }) => job);
    const probes = jobs.filter(({ data }) => data?.probe === true).map(({ id }) => id);
    const claimed = new Map<string, ClaimedDelivery>();
    try {
      const ids = jobs.map(({ id }) => id);
      for (const delivery of await claimDeliveries(database, { ids, probes, now: delivering.clock() }))
        claimed.set(delivery.id, delivery);
      const unclaimed = jobs.filter(({ id }) => !claimed.has(id));
      if (unclaimed.length > 0) await putBack(unclaimed);
    } catch (error) {
      logger.warn({ err: error }, "deliveries can't be claimed; their lease will bring them back");
    }
    for (const { job, leave } of starting) {
      const delivery = claimed.get(job.id);
      const sent = delivery === undefined ? Promise.resolve() : send(delivery, job, probes.includes(job.id));
      void sent.finally(leave);
    }
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
    await settleLines.add({ delivery, verdict, probe, job });
  };

  return {
    wake,
    async stop() {
      stopping = true;
      turns.length = 0;
      await looking;
      await places.empty();
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
