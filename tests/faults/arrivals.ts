import assert from "node:assert/strict";
import { eventually, isFullRun, withClient } from "@ehr-marketplace/test-kit";
import type { Received } from "@ehr-marketplace/tests/support/receiver";

/** Event timestamps by subscription; subscription and timestamp together identify an event. */
type Events = Map<string, string[]>;

interface Arrivals {
  arrived: number;
  /** Expected events that did not arrive. */
  lost: number;
  /** Events that arrived and were not expected. */
  unexpected: number;
  /** Subscriptions with an event whose first arrival was before that of an earlier event. */
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
    // Only first arrivals have to be in order; a duplicate may arrive later.
    if (JSON.stringify([...firsts]) !== JSON.stringify([...firsts].toSorted())) counted.violations += 1;
  }
  return counted;
}

/** Reads all committed events of subscriptions. */
export function committedEvents(ownerUrl: string): Promise<Events> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; timestamps: string[] }>(
      `select subscription_id as id, array_agg(payload::json ->> 'timestamp' order by sequence) as timestamps
       from events where subscription_id is not null group by 1`,
    );
    return new Map(rows.map(({ id, timestamps }) => [id, timestamps]));
  });
}

/** The longest time from the response to a change until its event arrived for the first time, in milliseconds. */
export function longestDelayMs(received: Received[], respondedAt: Map<string, number>): number {
  const seen = new Set<string>();
  let longest = 0;
  for (const { event, at } of received) {
    const key = `${event.subscription.id} ${event.timestamp}`;
    if (seen.has(key)) continue;
    seen.add(key);
    longest = Math.max(longest, at - (respondedAt.get(key) ?? at));
  }
  return longest;
}

/**
 * Fails if an event took longer to arrive than this. In a short run, which may share the machine with others, the longest delay before
 * the fault is allowed twice in addition.
 */
export function assertArrivedWithin(maxMs: number, delays: { before: number; longest: number }): void {
  const allowed = isFullRun ? maxMs : maxMs + 2 * delays.before;
  assert.ok(delays.longest <= allowed, `${delays.longest} ms, allowed are ${allowed} ms`);
}

/** Waits until at most so many deliveries are waiting or queued. */
export async function waitUntilSettled(ownerUrl: string, atMost = 0): Promise<void> {
  await eventually(`at most ${atMost} deliveries are not settled`, 90_000, async () => {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ open: number }>(
        "select count(*)::int as open from deliveries where status in ('waiting', 'queued')",
      ),
    );
    return (rows[0]?.open ?? 0) <= atMost;
  });
}

export interface AttemptLog {
  attempts: number;
  unknown: number;
  /** Attempts that deliveries count but the log doesn't have. */
  unlogged: number;
}

export function readAttemptLog(ownerUrl: string): Promise<AttemptLog> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<AttemptLog>(
      `select count(*)::int as attempts, (count(*) filter (where outcome = 'unknown'))::int as unknown,
         (select coalesce(sum(attempts), 0)::int from deliveries) - count(*)::int as unlogged from delivery_attempts`,
    );
    const [log] = rows;
    if (log === undefined) throw new Error("the count returned no row");
    return log;
  });
}
