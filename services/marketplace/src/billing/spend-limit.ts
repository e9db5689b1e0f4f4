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

export const isReached = ({ amount }: Pick<SpendLimit, "amount">, spent: bigint): boolean => spent >= amount;

export function decideSpend(limit: SpendLimit, spent: bigint): SpendDecision {
  if (isReached(limit, spent)) return { reachedPercent: 100, pauses: limit.onReached === "pause" };
  return { reachedPercent: spent * 100n >= limit.amount * 80n ? 80 : null, pauses: false };
}
