import type { HeldEhrDto, PageQuery, WebhookHealthDto } from "@ehr-marketplace/contracts";
import { pageOf } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { findHeldEhrs, type HeldEhrRow, mostCounted, readHealthRow, readRecentAttempts } from "./health-store.ts";

export interface ReadingHealth {
  database: Kysely<DB>;
  clock: () => Date;
}

const hour = 3_600_000;

/** An EHR that is held for longer is somebody's trouble; before that it may just have been restarted. */
export const heldTooLong = (now: Date): Date => new Date(now.getTime() - hour);

const boundedCount = (count: number): { count: number; orMore: boolean } => ({
  count: Math.min(count, mostCounted),
  orMore: count > mostCounted,
});

export function secondsSince(then: Date | null, now: Date): number | null {
  return then === null ? null : Math.max(0, Math.round((now.getTime() - then.getTime()) / 1_000));
}

const heldEhr = (row: HeldEhrRow): HeldEhrDto => ({
  organisationId: row.id,
  orgAlias: row.alias,
  heldSince: row.held_since.toISOString(),
  failedProbes: row.probes,
  hasCallback: row.has_callback,
  oldestDueAt: row.oldest_due_at.toISOString(),
});

export async function readHealth({ database, clock }: ReadingHealth, query: PageQuery): Promise<WebhookHealthDto> {
  const now = clock();
  const lastHour = new Date(now.getTime() - hour);
  const health = await readHealthRow(database, now);
  const { delivered, failed, unknown, oldest_at } = await readRecentAttempts(database, lastHour);
  const hasAll = delivered + failed + unknown < mostCounted;
  const heldEhrs = await pageOf(query, {
    find: (slice) => findHeldEhrs(database, heldTooLong(now), slice),
    timeOf: (row) => row.held_since,
    itemOf: heldEhr,
  });
  return {
    oldestUndeliveredSeconds: secondsSince(health.oldest_at, now),
    behindSeconds: secondsSince(health.ready_since, now),
    waiting: boundedCount(health.waiting),
    queued: boundedCount(health.queued),
    failedLastDay: boundedCount(health.failed_last_day),
    recipients: { held: boundedCount(health.held), disabled: boundedCount(health.disabled) },
    recentAttempts: {
      since: (hasAll || oldest_at === null ? lastHour : oldest_at).toISOString(),
      delivered,
      failed,
      unknown,
    },
    heldEhrs,
  };
}
