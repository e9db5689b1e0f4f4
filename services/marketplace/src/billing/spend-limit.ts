/** What an organisation has decided. */
export interface SpendLimit {
  /** In the currency's minor unit. */
  amount: bigint;
  onReached: "notify" | "pause";
}

/** What is due at this spend: the highest percentage that is reached and noticed, and whether to pause. */
export interface SpendDecision {
  reachedPercent: 80 | 100 | null;
  pauses: boolean;
}

/** A month without costs reaches no limit. */
export const isReached = ({ amount }: Pick<SpendLimit, "amount">, spent: bigint): boolean =>
  spent > 0n && spent >= amount;

/** Where usage was refused, the limit is reached, although the month costs less. */
export function decideSpend(limit: SpendLimit, spent: bigint, isExceeded = false): SpendDecision {
  if (isReached(limit, spent) || isExceeded) return { reachedPercent: 100, pauses: limit.onReached === "pause" };
  return { reachedPercent: spent > 0n && spent * 100n >= limit.amount * 80n ? 80 : null, pauses: false };
}

/**
 * How far a limit has to be raised, at least, after usage was refused: so that the cheapest refused record counts when it is reported again.
 * Otherwise an app could be used for nothing by raising its limit by a cent. Twice the limit is enough, whatever a faulty report would have cost.
 */
export const findLeastRaise = ({ amount }: Pick<SpendLimit, "amount">, cost: bigint): bigint =>
  cost < 2n * amount ? cost : 2n * amount;
