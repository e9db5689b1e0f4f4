import type { ListedSubscriptionDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatMonth } from "../../storefront/format.ts";
import { marketplace } from "../api/apis.ts";
import { pricingQuery } from "../api/catalog-queries.ts";
import { isNotFound } from "../states/describe-error.ts";
import { QueryView } from "../states/query-view.tsx";
import { PlanFields } from "../subscribe/plan-fields.tsx";
import { isPriced, toQuoteInput, useQuote } from "../subscribe/price-card.tsx";
import { MonthTable } from "../subscribe/quote-view.tsx";
import { describeTerms, readTerms } from "../subscribe/terms.ts";
import { texts } from "../texts.ts";
import { type ActionDialogProps, ActionFrame } from "./action-dialogs.tsx";
import { keptDays, startOfDay } from "./kept-days.ts";
import { useAction } from "./use-action.ts";
import { useFormatTime } from "./use-format-time.ts";

const t = texts.planDialog;

/** Changes plan or units. Plans in another currency can't be changed to. */
export function PlanDialog(props: ActionDialogProps) {
  const { subscription, isOpen } = props;
  const pricing = useQuery({ ...pricingQuery(subscription.appSlug), enabled: isOpen });
  if (!isOpen) return null;
  // Of an app that has left the catalog, the units can still be changed.
  const offered = isNotFound(pricing.error) ? [] : pricing.data;
  if (offered === undefined) {
    const waiting = { isPending: false, error: null, mutate: () => undefined, reset: () => undefined };
    return (
      <ActionFrame
        isOpen
        title={t.title(props.name)}
        button={t.button}
        isDisabled
        action={waiting}
        onClose={props.onClose}
      >
        <QueryView query={pricing} skeleton={<Skeleton height={160} />}>
          {() => null}
        </QueryView>
      </ActionFrame>
    );
  }
  return <PlanForm {...props} plans={withCurrent(offered, subscription)} />;
}

/** The subscribed plan may be off sale. */
const withCurrent = (plans: PricingPlanDto[], { pricingPlan }: ListedSubscriptionDto): PricingPlanDto[] =>
  plans.some(({ id }) => id === pricingPlan.id) ? plans : [pricingPlan, ...plans];

function PlanForm({
  alias,
  subscription,
  name,
  plans,
  onClose,
  onDone,
}: ActionDialogProps & { plans: PricingPlanDto[] }) {
  const { id, appSlug, pricingPlan, quantity } = subscription;
  const formatTime = useFormatTime(alias);
  const [planId, setPlanId] = useState(pricingPlan.id);
  const [entered, setEntered] = useState({ quantity: String(quantity ?? 1), usage: "" });
  const plan = plans.find((each) => each.id === planId) ?? pricingPlan;
  const terms = readTerms(plan, entered);
  const isChanged = terms.isValid && (plan.id !== pricingPlan.id || (terms.quantity ?? null) !== quantity);
  const input = toQuoteInput(plan, terms, false);
  const quote = useQuote(appSlug, input);
  // Of an app that has left the catalog, nothing is estimated.
  const hasLeft = isNotFound(quote.error);
  const action = useAction({
    alias,
    body: {
      pricingPlanId: plan.id,
      ...(terms.isValid && terms.quantity !== undefined && { quantity: terms.quantity }),
    },
    run: (body, headers) => marketplace("POST /subscriptions/{id}/plan", { path: { id }, body, headers }),
    onDone,
  });
  return (
    <ActionFrame
      isOpen
      title={t.title(name)}
      button={t.button}
      isDisabled={!isChanged || !(hasLeft || isPriced(input, quote))}
      action={action}
      onClose={onClose}
    >
      <Text size="sm">
        {t.current}: {pricingPlan.name}, {describeTerms(pricingPlan, quantity)}
      </Text>
      <PlanFields
        plans={plans}
        plan={plan}
        entered={entered}
        terms={terms}
        onPlan={setPlanId}
        onEnter={(changes) => setEntered({ ...entered, ...changes })}
        whyNot={({ currency }) => (currency === pricingPlan.currency ? undefined : t.otherCurrency)}
      />
      {hasLeft && <Text>{t.noPrice}</Text>}
      {input !== undefined && !hasLeft && (
        <QueryView query={quote} skeleton={<Skeleton height={120} />}>
          {({ currency, fullMonth }) => (
            <MonthTable caption={t.estimate(formatMonth(fullMonth.month))} month={fullMonth} currency={currency} />
          )}
        </QueryView>
      )}
      <Text size="sm" c="dimmed">
        {isChanged
          ? `${t.text(formatTime(startOfDay(new Date())), formatTime(startOfDay(new Date(), keptDays)))} ${t.trial}`
          : t.unchanged}
      </Text>
    </ActionFrame>
  );
}
