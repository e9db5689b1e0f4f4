import type { UsageAggregation, UsageRecord, UsageResult } from "@ehr-marketplace/contracts";
import { findLastBegun, findTermsAt, startOfDay, type TermsHistory } from "../subscriptions/terms.ts";
import { formatQuantity, parseQuantity } from "./decimal.ts";
import type { SentRecord } from "./malformed-records.ts";

/** A record as it is stored. */
export interface StoredRecord {
  id: string;
  occurredAt: Date;
  metric: string;
  /** In millionths. */
  quantity: bigint;
  aggregation: UsageAggregation;
  /** The plan that was in force. */
  planId: string;
  /** It is free. */
  isTrial: boolean;
  voided: boolean;
}

/** When usage counts, and as what. */
export interface MeteredSubscription {
  createdAt: Date;
  cancelledAt: Date | null;
  /** In order. */
  pauses: readonly { from: Date; to: Date | null }[];
  trialEndsAt: Date | null;
  /** Usage belongs to the plan that was in force when it occurred. */
  terms: TermsHistory<{ id: string; name: string; metric: string | null; aggregation: UsageAggregation | null }>;
}

export interface DecidedBatch {
  /** In the order of the records. */
  results: UsageResult[];
  counted: StoredRecord[];
  /** Stored ones, and ones of this batch. */
  voided: StoredRecord[];
}

/** How many more records are counted today, and which of them the spend limit refuses, by their keys. */
export interface BatchLimits {
  allowance: number;
  refused: ReadonlySet<string>;
}

export const maxRecordsPerDay = 100_000;
export const maxAgeMs = 35 * 86_400_000;
const maxAheadMs = 5 * 60_000;

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
export const hourOf = (time: Date): string => `${time.toISOString().slice(0, 13)}:00:00.000Z`;

/** A record is known by its id and its day. */
export const keyOf = ({ id, occurredAt }: { id: string; occurredAt: Date }): string =>
  `${startOfDay(occurredAt).getTime()} ${id}`;

/** Undefined: the format of JSON Schema allows it, and it is no time, such as a leap second. */
export function parseTime(text: string): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Why usage can't have been at that time. */
function findWrongTime(time: Date | undefined, now: Date): string | undefined {
  if (time === undefined) return "occurredAt isn't a time.";
  if (time.getTime() > now.getTime() + maxAheadMs) return "occurredAt is more than 5 minutes ahead.";
  if (time.getTime() < now.getTime() - maxAgeMs) return "occurredAt is more than 35 days ago.";
  return undefined;
}

/** Why the subscription wasn't in use at that time. */
function findOutOfUse({ createdAt, cancelledAt, pauses }: MeteredSubscription, time: Date): string | undefined {
  if (time < createdAt) return "The subscription began later.";
  if (cancelledAt !== null && time >= cancelledAt) return "The subscription was cancelled before.";
  const last = findLastBegun(pauses, time);
  const isPaused = last !== undefined && (last.to === null || time < last.to);
  return isPaused ? "The subscription was paused at that time." : undefined;
}

interface Decision extends Omit<UsageResult, "id"> {
  counted?: StoredRecord;
  voided?: StoredRecord;
}
const rejected = (reason: string): Decision => ({ status: "rejected", reason });
const duplicate: Decision = { status: "duplicate", reason: null };
/** The reason is a name that vendors' systems compare. */
const aboveLimit = rejected("spend-limit");
const tooMany = rejected(`${maxRecordsPerDay} records were counted today (UTC). Send it again tomorrow.`);

/** What would count unless a limit refused it. */
function refuse(decision: Decision, { allowance, refused }: BatchLimits): Decision {
  if (decision.counted === undefined) return decision;
  if (refused.has(keyOf(decision.counted))) return aboveLimit;
  return allowance > 0 ? decision : tooMany;
}

function decideVoid(known: StoredRecord | undefined): Decision {
  if (known === undefined) return rejected("No record with this id and day is known.");
  if (known.voided) return duplicate;
  return { status: "accepted", reason: null, voided: { ...known, voided: true } };
}

function decideRecord(
  record: UsageRecord,
  occurredAt: Date,
  known: StoredRecord | undefined,
  subscription: MeteredSubscription,
): Decision {
  const { id, metric } = record;
  if (metric === undefined || record.quantity === undefined) return rejected("A record has a metric and a quantity.");
  const quantity = parseQuantity(record.quantity);
  if (quantity === undefined) {
    return rejected("quantity isn't a number of at least 0 with at most 15 digits and 6 decimals.");
  }
  if (known?.voided === true) return rejected("The record was voided, and its id stays used: choose another one.");
  if (known !== undefined) {
    if (known.metric === metric && known.quantity === quantity) return duplicate;
    const counted = `${formatQuantity(known.quantity)} ${known.metric}`;
    return rejected(`The record is known, with another quantity or metric: ${counted}.`);
  }
  const outOfUse = findOutOfUse(subscription, occurredAt);
  if (outOfUse !== undefined) return rejected(outOfUse);
  const { plan } = findTermsAt(subscription.terms, occurredAt);
  if (plan.metric !== metric || plan.aggregation === null) {
    const charged = plan.metric === null ? "no usage" : `the metric "${plan.metric}"`;
    return rejected(`The plan of that time, "${plan.name}", charges ${charged}.`);
  }
  const { trialEndsAt } = subscription;
  const isTrial = trialEndsAt !== null && occurredAt < trialEndsAt;
  const belonging = { aggregation: plan.aggregation, planId: plan.id, isTrial };
  const counted = { id, occurredAt, metric, quantity, ...belonging, voided: false };
  return { status: "accepted", reason: null, counted };
}

/**
 * Decides on each record in the order sent, so that a record can follow another one of the same id. A known one is a duplicate also if it
 * couldn't be reported any more: a retry gets the same response, however late. Limits refuse only what would count.
 */
export function decideBatch(
  records: readonly SentRecord[],
  stored: readonly StoredRecord[],
  subscription: MeteredSubscription,
  now: Date,
  { allowance, refused }: BatchLimits,
): DecidedBatch {
  const known = new Map(stored.map((each) => [keyOf(each), each]));
  const batch: DecidedBatch = { results: [], counted: [], voided: [] };
  // Also those that the limit refuses: otherwise they would make room for others, whose costs nobody has compared.
  let taken = 0;
  for (const record of records) {
    if ("malformed" in record) {
      batch.results.push({ id: record.id, ...rejected(record.malformed) });
      continue;
    }
    const occurredAt = parseTime(record.occurredAt);
    const wrongTime = findWrongTime(occurredAt, now);
    const decide = (at: Date): Decision => {
      const same = known.get(keyOf({ id: record.id, occurredAt: at }));
      if (record.void === true) return decideVoid(same);
      const decision = decideRecord(record, at, same, subscription);
      if (decision.counted !== undefined) taken += 1;
      return refuse(decision, { allowance: allowance - taken + 1, refused });
    };
    const { status, reason, counted, voided } =
      occurredAt === undefined || wrongTime !== undefined ? rejected(wrongTime ?? "") : decide(occurredAt);
    batch.results.push({ id: record.id, status, reason });
    const changed = counted ?? voided;
    if (changed !== undefined) known.set(keyOf(changed), changed);
    if (counted !== undefined) batch.counted.push(counted);
    if (voided !== undefined) batch.voided.push(voided);
  }
  return batch;
}

/** The months of a batch's changes that are over. */
export function findLateMonths({ counted, voided }: DecidedBatch, now: Date): string[] {
  const thisMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const late = [...counted, ...voided].filter(({ occurredAt }) => occurredAt.getTime() < thisMonth);
  return [...new Set(late.map(({ occurredAt }) => occurredAt.toISOString().slice(0, 7)))];
}
