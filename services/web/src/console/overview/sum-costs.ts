import type { EstimateDto } from "@ehr-marketplace/client/marketplace";
import { formatMoney } from "../../storefront/format.ts";

const maxShown = 8;
/** Each app is a request: of more, the sum isn't asked for. */
export const maxSummed = 50;

/** The apps with a row of their own, and the rest, which has one together. A rest of one app is no shorter than its own row. */
export function divideApps<T>(apps: readonly T[]): { shown: T[]; others: T[] } {
  const count = apps.length === maxShown + 1 ? apps.length : maxShown;
  return { shown: apps.slice(0, count), others: apps.slice(count) };
}

export interface SummedCosts {
  /** One amount for each currency. */
  soFar: string[];
  projected: string[];
}

type Costs = Pick<EstimateDto, "currency" | "total" | "projectedTotal">;

function sumByCurrency(costs: readonly Costs[], amountOf: (each: Costs) => number): string[] {
  const sums = new Map<string, number>();
  for (const each of costs) sums.set(each.currency, (sums.get(each.currency) ?? 0) + amountOf(each));
  return [...sums].map(([currency, sum]) => formatMoney(sum, currency));
}

/** What several apps cost together. Undefined while one of them isn't known: a sum without it would be too low. */
export function sumCosts(costs: readonly (Costs | undefined)[]): SummedCosts | undefined {
  const known = costs.filter((each) => each !== undefined);
  if (known.length < costs.length) return undefined;
  return {
    soFar: sumByCurrency(known, ({ total }) => total),
    projected: sumByCurrency(known, ({ projectedTotal }) => projectedTotal),
  };
}
