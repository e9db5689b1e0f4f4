/** A plan that is agreed, from a time until the next change. */
export interface Terms<Plan> {
  from: Date;
  plan: Plan;
}

/** In order. The first one begins with the subscription, or before what was read. */
export type TermsHistory<Plan> = readonly [Terms<Plan>, ...Terms<Plan>[]];

/** What was agreed at a time. By bisection: there can be thousands, and a batch of usage has 500 records. */
export function findTermsAt<Plan>(terms: TermsHistory<Plan>, time: Date): Terms<Plan> {
  let [low, high] = [0, terms.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] as Terms<Plan>).from <= time) low = middle + 1;
    else high = middle;
  }
  return terms[Math.max(0, low - 1)] as Terms<Plan>;
}

export const startOfDay = (time: Date): Date =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
