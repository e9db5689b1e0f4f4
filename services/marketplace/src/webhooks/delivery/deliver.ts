import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { deliveries, leaseSeconds } from "../../queue/queues.ts";
import { type Attempting, attempt } from "./attempt.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-store.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { type DeliveryJob, isNew, recipientOf } from "./jobs.ts";
import { createPlaces } from "./places.ts";
import { putBack } from "./put-back.ts";
import type { Settling } from "./settle.ts";
import { createSettleLines } from "./settle-lines.ts";

export interface Delivering extends Settling, Attempting {
  mostInFlight: number;
  mostPerRecipient: number;
  logger: Logger;
  metrics: DeliveryMetrics;
}

interface Started {
  job: DeliveryJob;
  /** Gives its place back. */
  leave: () => void;
}

const mostFetched = 100;
/** A job that has waited longer than this for its recipient's turn is left to its lease: another fetch will bring it. */
const patienceMs = (leaseSeconds * 1_000) / 3;
/** One place in four of a recipient is not for what is sent again: a new event finds it free. */
const keptForNew = 0.25;

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
  const kept = Math.floor(mostPerRecipient * keptForNew);

  const look = async (): Promise<void> => {
    const boss = queue.boss();
    do {
      lookAgain = false;
      startTurns();
      while (hasRoom()) {
        // Behind what is sent again, of which there is little at a time, something new may be waiting.
        const waiting = turns.filter(({ job }) => isNew(job)).map(({ job }) => recipientOf(job));
        const ignoreGroups = [...new Set([...places.fullRecipients(), ...waiting])];
        const batchSize = Math.min(mostFetched, places.free());
        const jobs: DeliveryJob[] = await boss.fetch(deliveries, {
          batchSize,
          ignoreGroups,
          includeMetadata: true,
        });
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
    const all = turns.splice(0);
    for (const turn of [...all.filter((each) => isNew(each.job)), ...all.filter((each) => !isNew(each.job))]) {
      const { job } = turn;
      const recipient = recipientOf(job);
      if (Date.now() - turn.fetchedAt > patienceMs) continue;
      if (places.free() <= 0 || places.isFull(recipient, isNew(job) ? 0 : kept)) {
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
      await putBack(
        delivering,
        jobs.filter(({ id }) => !claimed.has(id)),
      );
    } catch (error) {
      logger.warn({ err: error }, "deliveries can't be claimed; their lease will bring them back");
    }
    for (const { job, leave } of starting) {
      const delivery = claimed.get(job.id);
      const sent = delivery === undefined ? Promise.resolve() : send(delivery, job, probes.includes(job.id));
      void sent.finally(leave);
    }
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
