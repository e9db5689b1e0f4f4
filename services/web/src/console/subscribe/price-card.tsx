import type { AppDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { countsUsage } from "../../storefront/describe-price.ts";
import { type QuoteInput, quoteQuery } from "../api/catalog-queries.ts";
import { QueryView } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { QuoteView } from "./quote-view.tsx";
import { describeCharging, type ReadTerms } from "./terms.ts";

const t = texts.subscribe;

/** The request for an estimate, or undefined if there is nothing to estimate. */
export function toQuoteInput(plan: PricingPlanDto, terms: ReadTerms, trial: boolean): QuoteInput | undefined {
  if (!terms.isValid || plan.pricingModel === "FREE") return undefined;
  if (countsUsage(plan) && terms.usage === undefined) return undefined;
  const { quantity, usage } = terms;
  return {
    pricingPlanId: plan.id,
    ...(quantity !== undefined && { quantity }),
    ...(usage !== undefined && { usage }),
    trial,
  };
}

export const useQuote = (slug: string, input: QuoteInput | undefined) =>
  useQuery({
    ...quoteQuery(slug, input ?? { pricingPlanId: "", trial: true }),
    enabled: input !== undefined,
    staleTime: 60_000,
  });

/** Nobody agrees to a price that isn't shown. Undefined: nothing is to be estimated. */
export const isPriced = (input: QuoteInput | undefined, { data }: { data: unknown }): boolean =>
  input === undefined || data !== undefined;

export interface PriceCardProps {
  app: AppDto;
  plan: PricingPlanDto;
  terms: ReadTerms;
  canHaveTrial: boolean;
}

/** What the first month and a full month cost, as the marketplace estimates. */
export function PriceCard({ app, plan, terms, canHaveTrial }: PriceCardProps) {
  const input = toQuoteInput(plan, terms, canHaveTrial);
  const quote = useQuote(app.slug, input);
  return (
    <section className="card price-card" aria-labelledby="price">
      <Stack gap="sm">
        <Title order={2} id="price">
          {t.price}
        </Title>
        <div aria-live="polite">
          {input !== undefined && (
            <QueryView query={quote} skeleton={<Skeleton height={220} />}>
              {(data) => <QuoteView quote={data} hasTrial={canHaveTrial && plan.trialDays > 0} />}
            </QueryView>
          )}
          {!terms.isValid && <Text c="dimmed">{terms.message}</Text>}
          {plan.pricingModel === "FREE" && <Text>{t.free}</Text>}
          {terms.isValid && countsUsage(plan) && input === undefined && <Text c="dimmed">{t.noUsage}</Text>}
        </div>
        {plan.trialDays > 0 && <Text size="sm">{canHaveTrial ? t.trial(plan.trialDays) : t.noTrial}</Text>}
        {plan.pricingModel !== "FREE" && (
          <Text size="sm" c="dimmed">
            {describeCharging(plan)}
          </Text>
        )}
      </Stack>
    </section>
  );
}
