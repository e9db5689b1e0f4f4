import type { ChargeLine } from "@ehr-marketplace/contracts";
import type { Fraction } from "fraction.js";
import type { PricedLine } from "./price.ts";

/** Quantities and prices have at most 8 decimals. */
const maxDecimals = 12;

export const formatDecimal = (given: Fraction): string => given.toString(maxDecimals);

/** Rates below one minor unit are decimal strings. */
function formatRate(given: Fraction): number | string {
  const text = formatDecimal(given);
  return text.includes(".") ? text : Number(text);
}

function describe({ description, days, intervalDays }: PricedLine): string {
  return days === intervalDays ? description : `${description}, ${days} of ${intervalDays} days`;
}

export const toChargeLine = (line: PricedLine): ChargeLine => ({
  description: describe(line),
  quantity: formatDecimal(line.quantity),
  unitAmount: formatRate(line.unitAmount),
  days: line.days,
  intervalDays: line.intervalDays,
  amount: line.amount,
});
