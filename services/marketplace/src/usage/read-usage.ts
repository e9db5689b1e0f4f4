import type { ReadUsageQuery, UsageDto, UsageGranularity } from "@ehr-marketplace/contracts";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import { requireReadableSubscription } from "../subscriptions/read-subscriptions.ts";
import { trimDecimal } from "./decimal.ts";
import type { UsageDeps } from "./report-usage.ts";
import { parseTime } from "./usage-record.ts";
import { findDays, findHours } from "./usage-store.ts";

const millisecondsPerDay = 86_400_000;
const maxDays: Record<UsageGranularity, number> = { hour: 31, day: 400, month: 400 };

/** The begin of the bucket that has the time, or of a later one. */
function bucketStart(time: Date, granularity: UsageGranularity, later = 0): Date {
  const [year, month, day, hour] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate(), time.getUTCHours()];
  switch (granularity) {
    case "hour":
      return new Date(Date.UTC(year, month, day, hour + later));
    case "day":
      return new Date(Date.UTC(year, month, day + later));
    case "month":
      return new Date(Date.UTC(year, month + later));
  }
}

const isDate = (text: string): boolean => text.length === "2027-01-31".length;

/** A date is its first moment (UTC); as the end of a range, the whole day belongs to the range. */
function parse(text: string | undefined, name: "from" | "to", byDefault: Date): Date {
  if (text === undefined) return byDefault;
  const time = parseTime(text);
  if (time === undefined) throw invalidRequest(`/query/${name}`, "is not a time");
  return name === "to" && isDate(text) ? new Date(time.getTime() + millisecondsPerDay) : time;
}

/** The usage of a subscription, for everyone who may read the subscription. */
export async function readUsage(
  { database, clock }: Pick<UsageDeps, "database" | "clock">,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
  query: ReadUsageQuery,
): Promise<UsageDto> {
  await requireReadableSubscription(database, caller, subscriptionId, vendorNamed);
  const granularity = query.granularity ?? "day";
  const now = clock();
  const from = bucketStart(parse(query.from, "from", bucketStart(now, "month")), granularity);
  const end = parse(query.to, "to", now);
  const begun = bucketStart(end, granularity);
  const to = begun < end ? bucketStart(end, granularity, 1) : begun;
  if (to < from) throw invalidRequest("/query/to", "is before `from`");
  // A range may touch one bucket more on both sides.
  const days = (to.getTime() - from.getTime()) / millisecondsPerDay;
  if (days > maxDays[granularity] + (granularity === "month" ? 62 : 2)) {
    throw invalidRequest("/query/from", `is more than ${maxDays[granularity]} days before \`to\`, for ${granularity}s`);
  }
  const buckets =
    granularity === "hour"
      ? await findHours(database, subscriptionId, { from, to })
      : await findDays(database, subscriptionId, { from, to, granularity });
  return {
    items: buckets.map(({ from: start, quantity, ...bucket }) => ({
      ...bucket,
      from: start.toISOString(),
      to: bucketStart(start, granularity, 1).toISOString(),
      quantity: trimDecimal(quantity),
    })),
  };
}
