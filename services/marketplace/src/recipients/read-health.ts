import type {
  HeldEhrDto,
  HeldOriginDto,
  OrganisationProfile,
  PageQuery,
  WebhookHealthDto,
} from "@ehr-marketplace/contracts";
import { listPage } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  findHeldEhrs,
  type HeldEhrRow,
  maxCounted,
  readEhrHealthRow,
  readHealthRow,
  readRecentAttempts,
} from "./health-store.ts";
import { findHeldOrigins, type HeldOriginRow } from "./origin-store.ts";

export interface HealthDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

const hourMs = 3_600_000;

/** An EHR that is held for longer than an hour needs attention; a shorter time may be a restart. */
export const heldTooLongBefore = (now: Date): Date => new Date(now.getTime() - hourMs);

const boundedCount = (count: number): { count: number; orMore: boolean } => ({
  count: Math.min(count, maxCounted),
  orMore: count > maxCounted,
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

const maxOrigins = 100;

const heldOrigin = (row: HeldOriginRow): HeldOriginDto => ({
  origin: row.origin,
  heldSince: row.held_since.toISOString(),
  failedProbes: row.probes,
  organisations: boundedCount(row.organisations),
});

export async function readHealth({ database, clock }: HealthDeps, query: PageQuery): Promise<WebhookHealthDto> {
  const now = clock();
  const lastHour = new Date(now.getTime() - hourMs);
  const health = await readHealthRow(database, now);
  const { delivered, failed, unknown, oldest_at } = await readRecentAttempts(database, lastHour);
  const hasAll = delivered + failed + unknown < maxCounted;
  const heldEhrs = await listPage(query, {
    find: (slice) => findHeldEhrs(database, heldTooLongBefore(now), slice),
    getTime: (row) => row.held_since,
    toItem: heldEhr,
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
    heldOrigins: (await findHeldOrigins(database, maxOrigins, maxCounted + 1)).map(heldOrigin),
  };
}

/** Of one organisation, for its own people. An EHR is also held while its host is. */
export async function readEhrHealth(database: Kysely<DB>, id: string): Promise<OrganisationProfile["delivery"]> {
  const { held_since, oldest_due_at } = await readEhrHealthRow(database, id);
  return {
    status: held_since === null ? "active" : "held",
    heldSince: held_since?.toISOString() ?? null,
    oldestDueAt: oldest_due_at?.toISOString() ?? null,
  };
}

export { countRecipients, type RecipientCounts } from "./recipient-store.ts";
