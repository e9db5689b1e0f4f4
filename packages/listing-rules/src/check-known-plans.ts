import type { DraftPlan } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";

/** A plan of the app that is on sale. */
export type KnownPlan = DraftPlan & { id: string };

/** A plan that was ever on sale never changes: its subscribers agreed to it. */
export function checkKnownPlans(plans: readonly DraftPlan[], known: readonly KnownPlan[], report: Report): void {
  const byId = new Map(known.map((plan) => [plan.id.toLowerCase(), normalise(plan)]));
  const seen = new Set<string>();
  for (const [index, plan] of plans.entries()) {
    const id = plan.id?.toLowerCase();
    if (id === undefined) continue;
    const pointer = `/plans/${index}`;
    const before = byId.get(id);
    if (seen.has(id)) {
      report(`${pointer}/id`, "plan-id-twice", "An earlier plan of the draft has this id: remove the id here.");
    } else if (before === undefined) {
      report(
        `${pointer}/id`,
        "plan-unknown",
        "No plan of this app with this id is on sale: remove the id to sell it as a new plan.",
      );
    } else {
      const after = normalise(plan);
      for (const field of Object.keys(after).filter((each) => after[each] !== before[each])) {
        const detail =
          "A plan that was on sale never changes: restore the field, or remove the id to make it a new plan.";
        report(`${pointer}/${field}`, "plan-changed", detail);
      }
    }
    seen.add(id);
  }
}

/** Texts that are equal if the fields mean the same: 0.450 is 0.45, and a field that is absent has its default. */
function normalise(plan: DraftPlan): Record<string, string> {
  const tiers = (plan.tiers ?? []).map(({ upTo = null, unitAmount, flatAmount }) => [
    upTo,
    normaliseAmount(unitAmount ?? 0),
    normaliseAmount(flatAmount ?? 0),
  ]);
  const fields = {
    name: plan.name,
    description: plan.description ?? "",
    pricingModel: plan.pricingModel,
    currency: plan.currency,
    amount: normaliseAmount(plan.amount ?? (plan.pricingModel === "FREE" ? 0 : null)),
    interval: plan.interval,
    trialDays: plan.trialDays ?? 0,
    unitName: plan.unitName,
    includedUnits: plan.includedUnits,
    tiers,
    tierMode: plan.tierMode,
    metric: plan.metric,
    aggregation: plan.aggregation,
    features: plan.features ?? [],
  } satisfies Record<Exclude<keyof DraftPlan, "id">, unknown>;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value ?? null)]));
}

function normaliseAmount(amount: number | string | null | undefined): string | null {
  if (amount === undefined || amount === null) return null;
  const [whole = "", decimals = ""] = String(amount).split(".");
  const significant = decimals.replace(/0+$/, "");
  return `${whole.replace(/^0+(?=\d)/, "")}${significant === "" ? "" : `.${significant}`}`;
}
