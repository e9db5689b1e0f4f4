/** What is agreed, from a time until the next change. */
export interface Terms<Plan> {
  from: Date;
  plan: Plan;
  /** Null if the plan has no units. */
  quantity: number | null;
}

/** In order: what is agreed at the start of each day that was read. The first one is what was first agreed, or what the first of these days has. */
export type TermsHistory<Plan> = readonly [Terms<Plan>, ...Terms<Plan>[]];

/** The terms of a day are those at its start, so a change counts from the next day. The first day has what was first agreed. */
export const findTermsOfDay = <Plan>(terms: TermsHistory<Plan>, start: Date): Terms<Plan> =>
  terms.findLast(({ from }) => from <= start) ?? terms[0];

export const startOfDay = (time: Date): Date =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
