import type { ChargeLine } from "@ehr-marketplace/contracts";
import type { Month } from "../billing/month.ts";

/** A line of a statement, for all who see it: the organisation, the vendor and the operator. */
export interface ChargedLine extends ChargeLine {
  subscriptionId: string;
  organisationId: string;
  orgAlias: string;
  vendorId: string;
  appId: string;
  appSlug: string;
  appName: string;
  currency: string;
  /** From 1 for each subscription. */
  number: number;
  /** The earlier month that it corrects. */
  adjusts: Month | null;
  creditId: string | null;
}

export interface CurrencyTotal {
  currency: string;
  total: bigint;
}

/** In the order of the currencies. */
export function totalsOf(lines: Iterable<Pick<ChargedLine, "currency" | "amount">>): CurrencyTotal[] {
  const totals = new Map<string, bigint>();
  for (const { currency, amount } of lines) totals.set(currency, (totals.get(currency) ?? 0n) + amount);
  return sortTotals([...totals].map(([currency, total]) => ({ currency, total })));
}

export const sortTotals = <T extends { currency: string }>(totals: readonly T[]): T[] =>
  totals.toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
