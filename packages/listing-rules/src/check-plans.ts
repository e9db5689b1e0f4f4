import type { DraftPlan } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";

type Field = Exclude<keyof DraftPlan, "id">;

interface Model {
  required: readonly Field[];
  /** Fields that must be absent. */
  excluded: readonly Field[];
  /** The amount is in whole minor units. */
  wholeAmount: boolean;
}

const usageFields = ["metric", "aggregation"] as const;
const tierFields = ["tiers", "tierMode"] as const;

const models: Record<NonNullable<DraftPlan["pricingModel"]>, Model> = {
  FREE: {
    required: [],
    excluded: ["interval", "unitName", "includedUnits", ...tierFields, ...usageFields],
    wholeAmount: true,
  },
  FLAT: { required: ["amount", "interval"], excluded: [...tierFields, ...usageFields], wholeAmount: true },
  PER_UNIT: {
    required: ["amount", "interval", "unitName"],
    excluded: [...tierFields, ...usageFields],
    wholeAmount: true,
  },
  TIERED: {
    required: ["interval", "unitName", "tiers", "tierMode"],
    excluded: ["amount", ...usageFields],
    wholeAmount: false,
  },
  USAGE: { required: ["interval", "metric", "aggregation"], excluded: [], wholeAmount: false },
};

const knownCurrencies = new Set(Intl.supportedValuesOf("currency"));
/** Of the column: 12 digits before the decimal point and 8 after it. */
const storableAmount = /^\d{1,12}(\.\d{1,8})?$/;

const amountAdvice = "An amount has at most 12 digits and 8 decimals.";

/** Above it, JSON numbers aren't exact. The column could store more. */
const maxUnits = Number.MAX_SAFE_INTEGER;

const isBlank = (value: unknown): boolean => typeof value === "string" && value.trim() === "";
const isPresent = (value: unknown): boolean =>
  value !== undefined && value !== null && !isBlank(value) && !(Array.isArray(value) && value.length === 0);

interface PlanContext {
  /** Those in which the marketplace limits usage by default: without a limit, a report could cost anything. */
  usageCurrencies: ReadonlySet<string>;
}

export function checkPlans(plans: readonly DraftPlan[], { usageCurrencies }: PlanContext, report: Report): void {
  if (plans.length === 0) {
    report("/plans", "plan-missing", "Add at least one plan; an app that costs nothing has a plan of the model FREE.");
  }
  const names = new Set<string>();
  for (const [index, plan] of plans.entries()) {
    const pointer = `/plans/${index}`;
    const { name } = plan;
    if (name !== undefined && names.has(name)) {
      report(`${pointer}/name`, "plan-name-twice", "Practices tell plans apart by their names: give it another one.");
    }
    if (name !== undefined) names.add(name);
    checkPlan(plan, pointer, report);
    const { pricingModel, currency } = plan;
    if (pricingModel === "USAGE" && currency !== undefined && !usageCurrencies.has(currency)) {
      const detail = `A plan by usage is in one of these currencies: ${[...usageCurrencies].join(", ")}.`;
      report(`${pointer}/currency`, "plan-currency-unlimited", detail);
    }
  }
}

function checkPlan(plan: DraftPlan, pointer: string, report: Report): void {
  for (const field of ["name", "pricingModel", "currency"] as const) {
    if (!isPresent(plan[field])) report(`${pointer}/${field}`, "plan-incomplete", `Every plan has a ${field}.`);
  }
  if (plan.currency !== undefined && !knownCurrencies.has(plan.currency)) {
    const detail = "Use a code of ISO 4217, for example USD.";
    report(`${pointer}/currency`, "plan-currency-unknown", detail);
  }
  if (plan.pricingModel === undefined) return;
  const { required, excluded, wholeAmount } = models[plan.pricingModel];
  for (const field of required.filter((each) => !isPresent(plan[each]))) {
    report(`${pointer}/${field}`, "plan-incomplete", `A plan of the model ${plan.pricingModel} has ${field}.`);
  }
  for (const field of excluded.filter((each) => isPresent(plan[each]))) {
    report(`${pointer}/${field}`, "plan-inconsistent", `A plan of the model ${plan.pricingModel} has no ${field}.`);
  }
  for (const field of ["unitName", "metric"] as const) {
    if (isBlank(plan[field]) && !required.includes(field)) {
      report(`${pointer}/${field}`, "plan-inconsistent", "It is blank: remove it, or use null.");
    }
  }
  if ((plan.includedUnits ?? 0) > maxUnits) {
    report(`${pointer}/includedUnits`, "plan-inconsistent", `A plan includes at most ${maxUnits} units.`);
  }
  checkAmount(plan, wholeAmount, pointer, report);
  const tiers = plan.tiers ?? [];
  if (plan.pricingModel === "USAGE") {
    if (isPresent(plan.amount) === tiers.length > 0) {
      const detail = "A plan of the model USAGE has either an amount per unit of the metric or tiers.";
      report(`${pointer}/amount`, isPresent(plan.amount) ? "plan-inconsistent" : "plan-incomplete", detail);
    }
    if (tiers.length > 0 !== isPresent(plan.tierMode)) {
      const detail = "Tiers need a tierMode, and nothing else has one.";
      report(`${pointer}/tierMode`, tiers.length > 0 ? "plan-incomplete" : "plan-inconsistent", detail);
    }
  }
  checkTiers(tiers, `${pointer}/tiers`, report);
}

function checkAmount({ pricingModel, amount }: DraftPlan, whole: boolean, pointer: string, report: Report): void {
  if (amount === undefined || amount === null) return;
  if (!storableAmount.test(String(amount))) {
    report(`${pointer}/amount`, "plan-inconsistent", amountAdvice);
  } else if (pricingModel === "FREE" && Number(amount) !== 0) {
    report(`${pointer}/amount`, "plan-inconsistent", "A plan of the model FREE has the amount 0, or none.");
  } else if (whole && typeof amount === "string") {
    const detail = "An amount per interval is a whole number of the currency's minor unit, for example 4900 for 49.00.";
    report(`${pointer}/amount`, "plan-inconsistent", detail);
  }
}

function checkTiers(tiers: NonNullable<DraftPlan["tiers"]>, pointer: string, report: Report): void {
  let reached = 0;
  for (const [index, { upTo, unitAmount, flatAmount }] of tiers.entries()) {
    const isLast = index === tiers.length - 1;
    const end = upTo ?? null;
    if (end === null && !isLast) {
      report(`${pointer}/${index}/upTo`, "plan-tiers-invalid", "Only the last tier is open: say where this one ends.");
    } else if (end !== null && isLast) {
      report(`${pointer}/${index}/upTo`, "plan-tiers-invalid", `Units above ${end} have no price: use null here.`);
    } else if (end !== null && end <= reached) {
      const detail = `The tier before ends at ${reached}, so this one has no units: let it end later.`;
      report(`${pointer}/${index}/upTo`, "plan-tiers-invalid", detail);
    }
    reached = Math.max(reached, end ?? reached);
    if (end !== null && end > maxUnits) {
      report(`${pointer}/${index}/upTo`, "plan-tiers-invalid", `A tier ends at unit ${maxUnits} at the latest.`);
    }
    if (unitAmount === undefined && flatAmount === undefined) {
      report(`${pointer}/${index}`, "plan-tiers-invalid", "A tier has a unitAmount, a flatAmount or both.");
    }
    for (const [field, amount] of Object.entries({ unitAmount, flatAmount })) {
      if (amount !== undefined && !storableAmount.test(String(amount))) {
        report(`${pointer}/${index}/${field}`, "plan-tiers-invalid", amountAdvice);
      }
    }
  }
}
