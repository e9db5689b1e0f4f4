import type { UsageAggregation } from "@ehr-marketplace/contracts";
import { formatQuantity } from "./decimal.ts";
import { type DecidedBatch, hourOf, type StoredRecord } from "./usage-record.ts";

export interface HourKey {
  hour: string;
  metric: string;
  aggregation: UsageAggregation;
  /** The plan that was in force. */
  planId: string;
  isTrial: boolean;
}

/** The aggregate of those records of a batch that are of one hour. */
export interface HourChange extends HourKey {
  quantity: string;
  recordCount: number;
  latestAt: string | null;
  latestId: string | null;
}

export interface HourChanges {
  added: HourChange[];
  /** Of MAX and LATEST, only the number of records counts: what remains is read from them. */
  removed: HourChange[];
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const compareKeys = (a: HourKey, b: HourKey): number =>
  compareText(a.hour, b.hour) ||
  compareText(a.metric, b.metric) ||
  compareText(a.aggregation, b.aggregation) ||
  compareText(a.planId, b.planId) ||
  Number(a.isTrial) - Number(b.isTrial);

/** The later one; of two at the same time, that with the greater id. */
export const compareTimes = (a: StoredRecord, b: StoredRecord): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || compareText(a.id, b.id);

const keyOfHour = ({ occurredAt, metric, aggregation, planId, isTrial }: StoredRecord): HourKey => ({
  hour: hourOf(occurredAt),
  metric,
  aggregation,
  planId,
  isTrial,
});

const numberOfHour = (time: Date): number => Math.floor(time.getTime() / 3_600_000);

/** In ascending order, so that two transactions change hours in the same one. */
function groupByHour(records: readonly StoredRecord[]): [HourKey, StoredRecord[]][] {
  const groups = Map.groupBy(
    records,
    ({ occurredAt, aggregation, metric, planId, isTrial }) =>
      `${numberOfHour(occurredAt)} ${aggregation} ${planId} ${isTrial} ${metric}`,
  );
  return [...groups.values()]
    .map((group): [HourKey, StoredRecord[]] => [keyOfHour(group[0] as StoredRecord), group])
    .toSorted(([a], [b]) => compareKeys(a, b));
}

const add = (records: readonly StoredRecord[]): bigint => records.reduce((sum, { quantity }) => sum + quantity, 0n);
const highest = (records: readonly StoredRecord[]): bigint =>
  records.reduce((max, { quantity }) => (quantity > max ? quantity : max), 0n);

function toChange(key: HourKey, records: readonly StoredRecord[]): HourChange {
  const change = { ...key, recordCount: records.length, latestAt: null, latestId: null };
  switch (key.aggregation) {
    case "SUM":
      return { ...change, quantity: formatQuantity(add(records)) };
    case "COUNT":
      return { ...change, quantity: String(records.length) };
    case "MAX":
      return { ...change, quantity: formatQuantity(highest(records)) };
    case "LATEST": {
      const latest = records.toSorted(compareTimes).at(-1) as StoredRecord;
      const { occurredAt, id, quantity } = latest;
      return { ...change, quantity: formatQuantity(quantity), latestAt: occurredAt.toISOString(), latestId: id };
    }
  }
}

/** What a batch adds to the hours, and what its voids take off. */
export function changeHours({ counted, voided }: Pick<DecidedBatch, "counted" | "voided">): HourChanges {
  return {
    added: groupByHour(counted).map(([key, records]) => toChange(key, records)),
    removed: groupByHour(voided).map(([key, records]) => toChange(key, records)),
  };
}
