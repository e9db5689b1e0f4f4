import type { UsageReportedEvent, UsageResults } from "@ehr-marketplace/contracts";
import { rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import { enforceSpendLimit, enforceUsageLimit } from "../billing/enforce-spend-limit.ts";
import { deferUsageLimit } from "../billing/limit-in-force.ts";
import { limitUsage } from "../billing/limit-usage.ts";
import type { UsageLimits } from "../billing/usage-limits.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { deferUsageReported } from "../events/record-usage-reported.ts";
import { type LockedForUsage, lockMeteredSubscription } from "../subscriptions/lock-metered-subscription.ts";
import { deferHistory } from "../subscriptions/read-history.ts";
import { countBatch, countDay, maxBatchesPerSecond, msUntilNextSecond } from "./batch-rate.ts";
import { formatQuantity } from "./decimal.ts";
import type { SentRecord } from "./malformed-records.ts";
import { usageProblems } from "./usage-errors.ts";
import { changeHours } from "./usage-hours.ts";
import {
  dayOf,
  decideBatch,
  findLateMonths,
  maxAgeMs,
  maxRecordsPerDay,
  parseTime,
  type StoredRecord,
} from "./usage-record.ts";
import {
  applyToHours,
  deferReporter,
  findRecords,
  insertRecords,
  upsertLateUsage,
  upsertReporter,
  voidRecords,
} from "./usage-store.ts";

export interface UsageDeps {
  database: Kysely<DB>;
  clock: () => Date;
  queue: Queue;
  usageLimits: UsageLimits;
}

/** Counts a batch of records in one transaction: records, hours, days and event. The records say who sent them. No month costs more than its limit. */
export async function reportUsage(
  { database, clock, queue, usageLimits }: UsageDeps,
  by: VendorContext,
  subscriptionId: string,
  records: readonly SentRecord[],
): Promise<UsageResults> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    // No generic plans: with them PostgreSQL would lock every day's partition of the records.
    const locked = await lockMeteredSubscription(transaction, by.vendor, subscriptionId);
    const { id } = locked;
    // Read with the records, in one round trip.
    const readReporter = await deferReporter(transaction, id);
    const keys = records.flatMap((record) => {
      const time = "malformed" in record ? undefined : parseTime(record.occurredAt);
      return time === undefined ? [] : [{ id: record.id, occurredAt: time }];
    });
    const known = new Map([[locked.plan.id, locked.plan]]);
    const readHistory = await deferHistory(transaction, id, findBegin(keys, now), known);
    const readLimit = await deferUsageLimit(transaction, { id, currency: locked.plan.currency }, usageLimits);
    const recordUsageReported = await deferUsageReported(transaction, locked.vendorId);
    const stored = await findRecords(transaction, id, keys);
    const reporter = await readReporter();
    const rate = countBatch(reporter, now);
    if (rate === undefined) throw reportedTooOften(id, reporter ?? { second: now }, now);
    const history = await readHistory();
    const today = countDay(reporter, dayOf(now));
    const allowance = maxRecordsPerDay - today.records;
    const decide = (refused: ReadonlySet<string>) => decideBatch(records, stored, history, now, { allowance, refused });
    const decided = decide(new Set());
    const limit = await readLimit();
    const limited = await limitUsage(transaction, { subscriptionId: id, batch: decided, limit, plans: known, now });
    const batch = limited.refused.size === 0 ? decided : decide(limited.refused);
    const report = { caller: by.caller, requestId: by.requestId, at: now };
    await insertRecords(transaction, id, batch.counted, report);
    await voidRecords(transaction, id, batch.voided, report);
    await applyToHours(transaction, id, changeHours(batch));
    // The statement of such a month may be closed already.
    await upsertLateUsage(transaction, id, findLateMonths(batch, now), now);
    const isEventDue = batch.counted.length > 0;
    const at = nextInstant(now, reporter?.reportedAt ?? locked.createdAt);
    const reportedAt = isEventDue ? at : (reporter?.reportedAt ?? null);
    const counts = { day: today.day, records: today.records + batch.counted.length + limited.refused.size };
    await upsertReporter(transaction, id, { ...rate, ...counts, reportedAt });
    if (isEventDue) await recordUsageReported(queue, eventOf(locked, batch.counted), at);
    await enforceUsageLimit(transaction, queue, limited, { id, limit, by, now });
    // What remains of a value, or of a tier, can cost more than what was taken back.
    if (batch.voided.length > 0) await enforceSpendLimit(transaction, queue, { id, limit, by, now });
    return { results: batch.results };
  });
}

/** Terms and pauses matter since the earliest record. */
function findBegin(keys: readonly { occurredAt: Date }[], now: Date): Date {
  const earliest = Math.min(now.getTime(), ...keys.map(({ occurredAt }) => occurredAt.getTime()));
  return new Date(Math.max(now.getTime() - maxAgeMs, earliest));
}

function reportedTooOften(id: string, reporter: { second: Date }, now: Date) {
  const detail = `Usage of subscription ${id} was reported ${maxBatchesPerSecond} times within a second.`;
  const retryAfterMs = msUntilNextSecond(reporter, now);
  return rateLimitProblem(usageProblems.reportedTooOften, detail, { limit: maxBatchesPerSecond, retryAfterMs });
}

/** The counted records of each metric. */
function eventOf(
  { id, status, orgAlias, app }: LockedForUsage,
  counted: readonly StoredRecord[],
): Pick<UsageReportedEvent, "app" | "subscription" | "usage"> {
  const metrics = Map.groupBy(counted, ({ metric }) => metric);
  const usage = [...metrics].map(([metric, records]) => {
    const times = records.map(({ occurredAt }) => occurredAt.getTime());
    return {
      metric,
      quantity: formatQuantity(records.reduce((sum, { quantity }) => sum + quantity, 0n)),
      from: new Date(Math.min(...times)).toISOString(),
      to: new Date(Math.max(...times)).toISOString(),
      recordCount: records.length,
    };
  });
  return { app, subscription: { id, status, orgAlias }, usage };
}
