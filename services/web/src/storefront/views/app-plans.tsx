import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import {
  countsUnits,
  countsUsage,
  describeIncluded,
  describePlanPrice,
  describeTierMode,
  describeTiers,
} from "../describe-price.ts";
import type { AppData } from "../page-data.ts";
import { texts } from "../texts.ts";
import { EstimateView } from "./app-estimate.tsx";

const t = texts.app;

/** The plans, and a calculator that is a plain form: the page is loaded with what the marketplace calculates. */
export function AppPlans({ data: { app, plans, calculator } }: { data: AppData }) {
  const path = `/apps/${encodeURIComponent(app.slug)}`;
  return (
    <section className="plans" id="plans" aria-labelledby="plans-title">
      <h2 id="plans-title">{t.plans}</h2>
      {plans === undefined && <p className="notice">{t.plansUnavailable}</p>}
      {plans?.length === 0 && <p>{t.noPlans}</p>}
      {plans !== undefined && calculator !== undefined && (
        <form action={`${path}#estimate`}>
          <fieldset>
            <legend className="hidden">{t.choosePlan}</legend>
            {plans.map((plan) => (
              <PlanCard key={plan.id} plan={plan} isChosen={plan.id === calculator.plan.id} />
            ))}
          </fieldset>
          <h3>{t.calculator}</h3>
          <QuantityFields calculator={calculator} plans={plans} />
          <button type="submit" className="button quiet calculate">
            {t.calculate}
          </button>
          <div id="estimate">
            <p className="muted outdated">{t.estimateOutdated}</p>
            <EstimateView estimate={calculator.estimate} plan={calculator.plan} />
          </div>
          <div className="subscribe">
            {/* What is selected and entered goes along, also without having been calculated. */}
            <button
              type="submit"
              className="button wide"
              formAction={`/console/subscribe/${encodeURIComponent(app.slug)}`}
            >
              {t.subscribe}
            </button>
            <p className="muted small">{t.cancelAnytime}</p>
          </div>
        </form>
      )}
    </section>
  );
}

function PlanCard({ plan, isChosen }: { plan: PricingPlanDto; isChosen: boolean }) {
  const { amount, per } = describePlanPrice(plan);
  return (
    <label className="plan">
      <input type="radio" name="plan" value={plan.id} defaultChecked={isChosen} data-counts={countedBy(plan)} />
      <span className="plan-name">{plan.name}</span>
      <span className="price">
        <strong>{amount}</strong> {per}
      </span>
      <span className="plan-details">
        {plan.trialDays > 0 && <span className="positive">{t.trial(plan.trialDays)}</span>}
        <PlanDetails plan={plan} />
      </span>
    </label>
  );
}

/** Which of the calculator's fields the plan needs. The styles hide the others. */
const countedBy = (plan: PricingPlanDto): string =>
  countsUnits(plan) ? "units" : countsUsage(plan) ? "usage" : "nothing";

function PlanDetails({ plan }: { plan: PricingPlanDto }) {
  const included = describeIncluded(plan);
  const tierMode = describeTierMode(plan);
  return (
    <span className="plan-detail">
      {plan.description !== "" && <span>{plan.description}</span>}
      {included !== undefined && <span>{included}</span>}
      {describeTiers(plan).map((tier) => (
        <span key={tier} className="tier">
          {tier}
        </span>
      ))}
      {tierMode !== undefined && <span>{tierMode}</span>}
      {plan.features.map((feature) => (
        <span key={feature} className="feature">
          {feature}
        </span>
      ))}
    </span>
  );
}

/** A field is left out if no plan counts it, and names the unit if it is the same for all that do. */
function QuantityFields({
  calculator,
  plans,
}: {
  calculator: NonNullable<AppData["calculator"]>;
  plans: PricingPlanDto[];
}) {
  const units = new Set(plans.filter(countsUnits).map(({ unitName }) => unitName ?? texts.price.unit));
  const metrics = new Set(plans.filter(countsUsage).map(({ metric }) => metric ?? texts.price.unit));
  const [unit] = units;
  const [metric] = metrics;
  return (
    <>
      {unit !== undefined && (
        <label className="field units">
          {units.size === 1 ? t.quantityOf(unit) : t.quantity}
          <input type="number" name="quantity" min={1} max={2_147_483_647} defaultValue={calculator.quantity ?? "1"} />
        </label>
      )}
      {metric !== undefined && (
        <label className="field usage">
          {metrics.size === 1 ? t.usageOf(metric) : t.usage}
          <input type="text" name="usage" inputMode="decimal" maxLength={40} defaultValue={calculator.usage} />
        </label>
      )}
    </>
  );
}
