import { withClient } from "@ehr-marketplace/dev/postgres";
import { eventually, letLeasesEnd, type Received, rounds } from "@ehr-marketplace/tests/support";

/** Timestamps by subscription: what is the same in both is the same event. */
type Events = Map<string, string[]>;

interface Arrivals {
  arrived: number;
  /** Expected, and never came. */
  lost: number;
  /** Came, and was not among what was expected. */
  unexpected: number;
  /** Subscriptions of which something came for the first time before what had happened earlier. */
  violations: number;
  duplicates: number;
}

export function countArrivals(received: Received[], expected: Events): Arrivals {
  const arrivals: Events = new Map();
  for (const { event } of received) {
    const { id } = event.subscription;
    arrivals.set(id, [...(arrivals.get(id) ?? []), event.timestamp]);
  }
  const counted = { arrived: 0, lost: 0, unexpected: 0, violations: 0, duplicates: 0 };
  for (const subscription of new Set([...expected.keys(), ...arrivals.keys()])) {
    const due = new Set(expected.get(subscription));
    const all = arrivals.get(subscription) ?? [];
    const firsts = new Set(all);
    counted.arrived += firsts.size;
    counted.duplicates += all.length - firsts.size;
    counted.lost += due.difference(firsts).size;
    counted.unexpected += firsts.difference(due).size;
    // A repetition may come late; what comes for the first time may not come before what happened earlier.
    if (JSON.stringify([...firsts]) !== JSON.stringify([...firsts].toSorted())) counted.violations += 1;
  }
  return counted;
}

/** All that happened, as the database has it. */
export function committedEvents(ownerUrl: string): Promise<Events> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; timestamps: string[] }>(
      `select subscription_id as id, array_agg(payload::json ->> 'timestamp' order by sequence) as timestamps
       from events where subscription_id is not null group by 1`,
    );
    return new Map(rows.map(({ id, timestamps }) => [id, timestamps]));
  });
}

/** Longer than any worker that lives has a job in hand while its receiver answers fast. */
export const heldByNobodyMs = 2_000;

/** Nothing may be left that waits or is queued. With all rounds, leases last as long as they last. */
export async function waitUntilSettled(ownerUrl: string): Promise<void> {
  const patient = rounds(0, 1) === 1;
  await eventually("everything is settled", patient ? 90_000 : 30_000, async () => {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ open: number }>(
        "select count(*)::int as open from deliveries where status in ('waiting', 'queued')",
      ),
    );
    if (rows[0]?.open === 0) return true;
    if (!patient) await letLeasesEnd(ownerUrl, heldByNobodyMs);
    return false;
  });
}

export interface Log {
  attempts: number;
  unknown: number;
  /** Counted at a delivery, and without a row in the log. */
  unlogged: number;
}

export function readLog(ownerUrl: string): Promise<Log> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<Log>(
      `select count(*)::int as attempts, (count(*) filter (where outcome = 'unknown'))::int as unknown,
         (select coalesce(sum(attempts), 0)::int from deliveries) - count(*)::int as unlogged from delivery_attempts`,
    );
    const [log] = rows;
    if (log === undefined) throw new Error("a count without a row");
    return log;
  });
}
