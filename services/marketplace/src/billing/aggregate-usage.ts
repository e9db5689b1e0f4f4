import type { UsageAggregation } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import type { PlanUsage } from "../usage/read-daily-usage.ts";

/** The aggregate of usage in the order of its days. Null if there was none. */
export function aggregateUsage(aggregation: UsageAggregation | null, usage: readonly PlanUsage[]): Fraction | null {
  const quantities = usage.map(({ quantity }) => new Fraction(quantity));
  const latest = quantities.at(-1);
  if (latest === undefined) return null;
  switch (aggregation) {
    case "MAX":
      return quantities.reduce((a, b) => (a.compare(b) > 0 ? a : b));
    case "LATEST":
      return latest;
    default:
      return quantities.reduce((a, b) => a.add(b));
  }
}
