import { isDeepStrictEqual } from "node:util";
import type { DraftPlan } from "@ehr-marketplace/contracts";
import type { StoredDraft } from "./listing-store.ts";

const withoutId = ({ id: _id, ...plan }: DraftPlan): object => plan;

/**
 * Gives plans of the draft the ids under which they are now on sale, so that the next revision keeps them. A plan that was edited
 * since the submission has none: it will be a new one.
 */
export function namePlans(draft: StoredDraft, onSale: DraftPlan[]): StoredDraft {
  if (draft.plans === undefined) return draft;
  const left = [...onSale];
  const plans = draft.plans.map((plan) => {
    if (plan.id !== undefined) return plan;
    const index = left.findIndex((sold) => isDeepStrictEqual(withoutId(sold), plan));
    const [sold] = index < 0 ? [] : left.splice(index, 1);
    return sold?.id === undefined ? plan : { id: sold.id, ...plan };
  });
  return { ...draft, plans };
}
