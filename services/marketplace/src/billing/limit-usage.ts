import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { KnownPlans } from "../subscriptions/known-plans.ts";
import { readAccounts } from "../subscriptions/read-accounts.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { type DecidedBatch, keyOf, type StoredRecord } from "../usage/usage-record.ts";
import { beginsAt } from "./charged-days.ts";
import type { LimitInForce } from "./limit-in-force.ts";
import { type Month, nextMonth, periodOf, toMonth } from "./month.ts";
import { type MonthCosts, openMonth } from "./month-costs.ts";

/** What months cost with a batch, and which of its records the limit refuses. */
export interface LimitedBatch {
  totals: ReadonlyMap<Month, bigint>;
  /** By the keys of their records. */
  refused: ReadonlySet<string>;
  /** What a month would have cost with the cheapest of its refused records. */
  exceeded: ReadonlyMap<Month, bigint>;
}

interface UsageToLimit {
  subscriptionId: string;
  batch: Pick<DecidedBatch, "counted" | "voided">;
  limit: LimitInForce;
  plans: KnownPlans;
  now: Date;
}

/**
 * Finds the records of a batch that would take a month above a limit that pauses. They are compared in their order if the batch as a
 * whole exceeds it, after everything that the batch takes back. The caller has locked the subscription.
 */
export async function limitUsage(
  transaction: Transaction<DB>,
  { subscriptionId, batch, limit, plans, now }: UsageToLimit,
): Promise<LimitedBatch> {
  if (batch.counted.length === 0) return { totals: new Map(), refused: new Set(), exceeded: new Map() };
  const { counted, voided } = withoutUndone(batch);
  const months = new Set([toMonth(now), ...[...counted, ...voided].map(({ occurredAt }) => toMonth(occurredAt))]);
  const openCosts = await readMonths(transaction, { subscriptionId, months, plans, now });
  const begin = (byPeak: boolean): Costs => {
    const costs = openCosts(byPeak);
    for (const record of voided) costOf(costs, record).remove(record);
    return costs;
  };
  const addAll = (byPeak: boolean): Costs => {
    const costs = begin(byPeak);
    for (const record of counted) costOf(costs, record).add(record);
    return costs;
  };
  const all = addAll(false);
  const byPeak = counted.some(({ aggregation }) => aggregation === "LATEST");
  const above = [...(byPeak ? addAll(true) : all)].filter(([, { total }]) => total() > limit.amount);
  const before = above.length === 0 ? undefined : totalsOf(begin(byPeak));
  const isExceeded = above.some(([month, { total }]) => total() > (before?.get(month) ?? 0n));
  if (limit.onReached === "notify" || !isExceeded) {
    return { totals: totalsOf(all), refused: new Set(), exceeded: new Map() };
  }
  const costs = begin(false);
  const { refused, exceeded } = await refuse(costs, counted, limit.amount);
  return { totals: totalsOf(costs), refused, exceeded };
}

/** A record that its own batch takes back adds nothing. */
function withoutUndone({ counted, voided }: UsageToLimit["batch"]): UsageToLimit["batch"] {
  const [added, removed] = [new Set(counted.map(keyOf)), new Set(voided.map(keyOf))];
  return {
    counted: counted.filter((record) => !removed.has(keyOf(record))),
    voided: voided.filter((record) => !added.has(keyOf(record))),
  };
}

type Costs = ReadonlyMap<Month, MonthCosts>;

const totalsOf = (costs: Costs): Map<Month, bigint> =>
  new Map([...costs].map(([month, { total }]) => [month, total()]));

function costOf(costs: Costs, { occurredAt }: StoredRecord): MonthCosts {
  const found = costs.get(toMonth(occurredAt));
  if (found === undefined) throw new Error("the month of a record wasn't read");
  return found;
}

/** Reads what the costs of the months depend on. What is returned begins with them as they are. */
async function readMonths(
  transaction: Transaction<DB>,
  { subscriptionId, months, plans, now }: Omit<UsageToLimit, "batch" | "limit"> & { months: ReadonlySet<Month> },
): Promise<(byPeak: boolean) => Costs> {
  const ordered = [...months].toSorted();
  const [first = toMonth(now), last = first] = [ordered[0], ordered.at(-1)];
  const accounts = await readAccounts(transaction, [subscriptionId], beginsAt(first), plans);
  const account = accounts.find((each) => each.some(({ id }) => id === subscriptionId));
  if (account === undefined) throw new Error(`subscription ${subscriptionId} doesn't exist`);
  const ids = account.map(({ id }) => id);
  const period = { from: periodOf(first).from, to: periodOf(nextMonth(last)).from };
  const usage = await readDailyUsage(transaction, ids, period);
  const opened = ordered.map((month) => {
    const ofMonth = usage.filter(({ day }) => day.startsWith(month));
    return [month, openMonth({ month, account, usage: ofMonth, subscriptionId }, now)] as const;
  });
  return (byPeak) => new Map(opened.map(([month, open]) => [month, open({ byPeak })]));
}

/** After so many refused records the rest of a batch isn't compared any more: the subscription stays locked meanwhile. */
const maxCompared = 50;

async function refuse(
  costs: Costs,
  counted: readonly StoredRecord[],
  limit: bigint,
): Promise<Pick<LimitedBatch, "refused" | "exceeded">> {
  const refused = new Set<string>();
  const exceeded = new Map<Month, bigint>();
  for (const record of counted) {
    if (refused.size >= maxCompared) {
      refused.add(keyOf(record));
      continue;
    }
    const month = toMonth(record.occurredAt);
    const cost = costOf(costs, record).addBelow(limit, record);
    if (cost !== null) {
      refused.add(keyOf(record));
      exceeded.set(month, lesser(cost, exceeded.get(month)));
    }
    // A plan can have fifty tiers, and a batch 500 records.
    await yieldToEventLoop();
  }
  return { refused, exceeded };
}

const lesser = (a: bigint, b: bigint | undefined): bigint => (b === undefined || a < b ? a : b);
