import { formatQuantity } from "../usage/decimal.ts";
import type { DatedUsage } from "../usage/read-daily-usage.ts";
import { dayOf, type StoredRecord } from "../usage/usage-record.ts";
import { type BilledMonth, chargeMonth, totalOfUsage } from "./charge-month.ts";
import { toMonth } from "./month.ts";
import { totalOf } from "./price.ts";
import { isValue } from "./project-usage.ts";

/** A month of an account, to which usage of one of its subscriptions is added. */
export interface MonthCosts {
  /** What the month costs, today included, with what was added. */
  total: () => bigint;
  add: (record: StoredRecord) => void;
  /** Of a highest or a latest value, what remains isn't known here: it goes on to count. */
  remove: (record: StoredRecord) => void;
  /** Adds a record unless that takes the month above the limit: then returns what the month would have cost. What costs nothing more passes. */
  addBelow: (limit: bigint, record: StoredRecord) => bigint | null;
}

interface ReadMonth extends BilledMonth {
  subscriptionId: string;
  usage: readonly DatedUsage[];
}

/** What was used by a plan, or of a metric with values. */
interface Quantity extends Omit<DatedUsage, "quantity"> {
  millionths: bigint;
}

const oneRecord = 1_000_000n;

/**
 * Reads what a month costs for its days, once. What is returned begins with the usage that was counted before, as often as it is called. By the
 * peak, a LATEST value counts even if a later one follows it, because that can be taken back: otherwise a value of any size could wait behind a
 * small one.
 */
export function openMonth(read: ReadMonth, now: Date): (options?: { byPeak: boolean }) => MonthCosts {
  const { month, account } = read;
  const until = month < toMonth(now) ? undefined : now;
  const ofDays = totalOf(chargeMonth({ month, account, usage: [] }, until));
  return ({ byPeak } = { byPeak: false }) => createMonthCosts(read, { ofDays, byPeak });
}

function createMonthCosts(
  { month, account, usage, subscriptionId }: ReadMonth,
  { ofDays, byPeak }: { ofDays: bigint; byPeak: boolean },
): MonthCosts {
  // What a month costs depends on nothing else of its usage.
  const quantities = new Map<string, Quantity>();
  const join = (added: Quantity): void => {
    const known = quantities.get(keyOf(added));
    quantities.set(keyOf(added), known === undefined ? added : joined(known, added, byPeak));
  };
  for (const { quantity, ...each } of usage) if (!each.isTrial) join({ ...each, millionths: toMillionths(quantity) });
  let ofUsage: bigint | undefined;
  const total = (): bigint => {
    ofUsage ??= totalOfUsage({ month, account, usage: [...quantities.values()].map(toUsage) });
    return ofDays + ofUsage;
  };
  const change = (changed: Quantity): void => {
    join(changed);
    ofUsage = undefined;
  };
  const add = (record: StoredRecord): void => {
    if (!record.isTrial) change(quantityOf(record, subscriptionId));
  };
  return {
    total,
    add,
    remove: (record) => {
      if (!record.isTrial && !isValue(record.aggregation)) change(quantityOf(record, subscriptionId, -1n));
    },
    addBelow: (limit, record) => {
      if (record.isTrial) return null;
      const before = total();
      const added = quantityOf(record, subscriptionId);
      const kept = quantities.get(keyOf(added));
      if (kept === undefined || record.aggregation !== "LATEST") add(record);
      else quantities.set(keyOf(added), added);
      ofUsage = undefined;
      const after = total();
      const isRefused = after > limit && after > before;
      if (isRefused && kept === undefined) quantities.delete(keyOf(added));
      if (kept !== undefined && (isRefused || record.aggregation === "LATEST")) {
        quantities.set(keyOf(added), isRefused ? kept : joined(kept, added, byPeak));
      }
      ofUsage = isRefused ? before - ofDays : undefined;
      return isRefused ? after : null;
    },
  };
}

function quantityOf({ quantity, occurredAt, ...record }: StoredRecord, subscriptionId: string, sign = 1n): Quantity {
  const { metric, aggregation, planId, isTrial } = record;
  const counted = aggregation === "COUNT" ? oneRecord : quantity;
  const belonging = { subscriptionId, day: dayOf(occurredAt), planId, isTrial, metric, aggregation };
  return { ...belonging, millionths: sign * counted, latestAt: occurredAt };
}

const toUsage = ({ millionths, ...of }: Quantity): DatedUsage => ({ ...of, quantity: formatQuantity(millionths) });

/** A sum can have more digits than the quantity of a record. */
function toMillionths(decimal: string): bigint {
  const [whole = "0", decimals = ""] = decimal.split(".");
  return BigInt(`${whole}${decimals.slice(0, 6).padEnd(6, "0")}`);
}

const keyOf = ({ subscriptionId, planId, metric, aggregation }: Quantity): string =>
  isValue(aggregation) ? `${aggregation} ${metric}` : `${subscriptionId} ${planId}`;

function joined(known: Quantity, added: Quantity, byPeak: boolean): Quantity {
  switch (byPeak && added.aggregation === "LATEST" ? "MAX" : added.aggregation) {
    case "MAX":
      return added.millionths > known.millionths ? added : known;
    case "LATEST":
      return timeOf(added.latestAt) >= timeOf(known.latestAt) ? added : known;
    default:
      return { ...known, millionths: known.millionths + added.millionths };
  }
}

const timeOf = (time: Date | null): number => time?.getTime() ?? 0;
