import type { PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Radio, Stack, TextInput } from "@mantine/core";
import {
  countsUnits,
  countsUsage,
  describeIncluded,
  describePlanPrice,
  describeTierMode,
  describeTiers,
} from "../../storefront/describe-price.ts";
import { texts as storefront } from "../../storefront/texts.ts";
import { texts } from "../texts.ts";
import type { EnteredTerms, ReadTerms } from "./terms.ts";

const t = texts.subscribe;

export interface PlanFieldsProps {
  plans: PricingPlanDto[];
  plan: PricingPlanDto;
  entered: EnteredTerms;
  terms: ReadTerms;
  onPlan: (id: string) => void;
  onEnter: (entered: Partial<EnteredTerms>) => void;
  /** Of a plan that can't be chosen. */
  whyNot?: (plan: PricingPlanDto) => string | undefined;
}

/** The plans to choose from, and what the chosen one counts. */
export function PlanFields({ plans, plan, entered, terms, onPlan, onEnter, whyNot }: PlanFieldsProps) {
  const errorOf = (field: keyof EnteredTerms) => (!terms.isValid && terms.field === field ? terms.message : undefined);
  return (
    <Stack>
      <Radio.Group value={plan.id} onChange={onPlan} label={t.plan}>
        <Stack gap="xs" mt="xs">
          {plans.map((each) => (
            <PlanOption key={each.id} plan={each} whyNot={whyNot?.(each)} />
          ))}
        </Stack>
      </Radio.Group>
      {countsUnits(plan) && (
        <TextInput
          label={t.quantity(plan.unitName ?? storefront.price.unit)}
          value={entered.quantity}
          onChange={(event) => onEnter({ quantity: event.currentTarget.value })}
          inputMode="numeric"
          maxLength={9}
          maw="20rem"
          error={errorOf("quantity")}
        />
      )}
      {countsUsage(plan) && (
        <TextInput
          label={t.usage(plan.metric ?? storefront.price.unit)}
          value={entered.usage}
          onChange={(event) => onEnter({ usage: event.currentTarget.value })}
          inputMode="decimal"
          maxLength={20}
          maw="20rem"
          error={errorOf("usage")}
        />
      )}
    </Stack>
  );
}

function PlanOption({ plan, whyNot }: { plan: PricingPlanDto; whyNot: string | undefined }) {
  const { amount, per } = describePlanPrice(plan);
  const details = [
    ...(plan.trialDays > 0 ? [storefront.app.trial(plan.trialDays)] : []),
    plan.description,
    ...describeTiers(plan),
    ...plan.features,
    whyNot ?? "",
  ].filter((detail) => detail !== "");
  const notes = [describeIncluded(plan), describeTierMode(plan)].filter((note) => note !== undefined);
  return (
    <div className="plan">
      <Radio
        value={plan.id}
        disabled={whyNot !== undefined}
        label={
          <span className="plan-label">
            <strong>{plan.name}</strong>
            <span className="plan-price">
              <strong>{amount}</strong> {per}
            </span>
          </span>
        }
        description={
          <>
            {details.join(" · ")}
            {notes.length > 0 && <span className="plan-note">{notes.join(" ")}</span>}
          </>
        }
      />
    </div>
  );
}
