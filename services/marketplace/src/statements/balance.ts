import type { CurrencyTotal } from "./charged-line.ts";

/** What the month before has left in a currency, because its total was negative. */
export interface CarriedOver {
  currency: string;
  amount: bigint;
}

/** What a total makes with what is carried over to it. If that is negative, nothing is due, and it is carried over once more. */
export function dueOf(total: bigint, carriedOver: bigint): { carriedOver: bigint; due: bigint } {
  const sum = total + carriedOver;
  return { carriedOver, due: sum < 0n ? 0n : sum };
}

export interface DueTotal extends CurrencyTotal {
  carriedOver: bigint;
  due: bigint;
}

/** For each currency that has a total, or something carried over, in the order of the currencies. */
export function withCarriedOver(totals: readonly CurrencyTotal[], carried: readonly CarriedOver[]): DueTotal[] {
  const currencies = new Set([...totals, ...carried].map(({ currency }) => currency));
  return [...currencies].toSorted().map((currency) => {
    const total = totals.find((each) => each.currency === currency)?.total ?? 0n;
    const carriedOver = carried.find((each) => each.currency === currency)?.amount ?? 0n;
    return { currency, total, ...dueOf(total, carriedOver) };
  });
}
