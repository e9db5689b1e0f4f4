/** A time in which a subscription was active with the same terms. */
export interface ActivePeriod<Plan> {
  from: Date;
  /** Null while it lasts. */
  to: Date | null;
  plan: Plan;
  /** Null if the plan has no units. */
  quantity: number | null;
}

export interface Pause {
  from: Date;
  /** Null while it lasts. */
  to: Date | null;
  /** Null if it isn't known: it is older than reasons are. */
  reason: string | null;
}

/** What prices depend on. */
export interface SubscriptionInAccount<Plan> {
  id: string;
  createdAt: Date;
  cancelledAt: Date | null;
  trialEndsAt: Date | null;
  /** In order. With the terms before increases that count as never made. Periods within a day on which dearer terms were in force may be left out. */
  periods: readonly ActivePeriod<Plan>[];
  /** In order. Those within a day may be left out. */
  pauses: readonly Pause[];
}

/** An organisation's subscriptions to one app in one currency, in the order in which they began: they are charged as if they were one. */
export type Account<Plan> = readonly SubscriptionInAccount<Plan>[];
