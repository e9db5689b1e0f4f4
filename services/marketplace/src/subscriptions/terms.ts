/** A plan that is agreed, from a time until the next change. */
export interface Terms<Plan> {
  from: Date;
  plan: Plan;
}

/** In order. The first one begins with the subscription, or before what was read. */
export type TermsHistory<Plan> = readonly [Terms<Plan>, ...Terms<Plan>[]];

/** The last that began by a time. By bisection: there can be thousands, and a batch of usage has 500 records. */
export function findLastBegun<Begun extends { from: Date }>(inOrder: readonly Begun[], time: Date): Begun | undefined {
  let [low, high] = [0, inOrder.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((inOrder[middle] as Begun).from <= time) low = middle + 1;
    else high = middle;
  }
  return inOrder[low - 1];
}

/** What was agreed at a time. */
export const findTermsAt = <Plan>(terms: TermsHistory<Plan>, time: Date): Terms<Plan> =>
  findLastBegun(terms, time) ?? terms[0];

export const startOfDay = (time: Date): Date =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
