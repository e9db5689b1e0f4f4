import type { AppDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Anchor, Button, Checkbox, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { AccessList } from "../access-list.tsx";
import { marketplace } from "../api/apis.ts";
import { appQuery } from "../api/catalog-queries.ts";
import { useIdempotencyKeys } from "../api/idempotency-keys.ts";
import { practiceKey } from "../api/practice-queries.ts";
import { mayPass } from "../api/query-client.ts";
import { practiceName } from "../practice-name.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { texts } from "../texts.ts";
import { type Agreement, baaOf, checkAgreement } from "./agreement.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { PlanFields } from "./plan-fields.tsx";
import { PriceCard } from "./price-card.tsx";
import { readTerms } from "./terms.ts";

const t = texts.subscribe;
const route = getRouteApi("/console/subscribe/$slug");

/** A vendor's URL becomes a link only if a browser may open it. */
const isWebAddress = (url: string | null): url is string => /^https?:$/.test(URL.parse(url ?? "")?.protocol ?? "");

export interface SubscribeFormProps {
  alias: string;
  app: AppDto;
  plans: PricingPlanDto[];
  canHaveTrial: boolean;
}

/** Plan and units are in the URL; what is agreed to is not, so that nobody agrees by a link. */
export function SubscribeForm({ alias, app, plans, canHaveTrial }: SubscribeFormProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [agreement, setAgreement] = useState<Agreement>({});
  const [isChecked, setChecked] = useState(false);
  /** The plan that is being confirmed: if it goes off sale, another one isn't confirmed in its place. */
  const [confirmedPlan, setConfirmedPlan] = useState<string>();
  const plan = plans.find(({ id }) => id === search.plan) ?? plans[0];
  const create = useCreateSubscription(alias, app, () => setConfirmedPlan(undefined));
  if (plan === undefined) return null;
  const { isAgreed, isBaaAccepted, isComplete: isAllAgreed } = checkAgreement(agreement, app);
  const isConfirming = confirmedPlan === plan.id;
  const entered = { quantity: search.quantity ?? "1", usage: search.usage ?? "" };
  const terms = readTerms(plan, entered);
  const isComplete = terms.isValid && isAllAgreed;
  const change = (changes: typeof search): void => void navigate({ search: { ...search, ...changes }, replace: true });
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (!isComplete) return;
    create.reset();
    setConfirmedPlan(plan.id);
  };
  return (
    <form onSubmit={onSubmit} className="subscribe" noValidate>
      <PlanFields
        plans={plans}
        plan={plan}
        entered={entered}
        terms={terms}
        onPlan={(id) => change({ plan: id })}
        onEnter={change}
      />
      <PriceCard app={app} plan={plan} terms={terms} canHaveTrial={canHaveTrial} />
      <Stack gap="xl">
        <section aria-labelledby="access">
          <Stack>
            <Title order={2} id="access">
              {t.access}
            </Title>
            <AccessList fhirScopes={app.fhirScopes} purposes={app.scopePurposes} />
            <Checkbox
              label={t.agree(practiceName(alias))}
              checked={isAgreed}
              onChange={(event) =>
                setAgreement({ ...agreement, scopes: event.currentTarget.checked ? app.fhirScopes : undefined })
              }
              error={isChecked && !isAgreed && t.mustAgree}
            />
          </Stack>
        </section>
        {app.baaRequired && (
          <section aria-labelledby="baa">
            <Stack>
              <Title order={2} id="baa">
                {t.baa}
              </Title>
              <Text>{t.baaText(app.vendor.name)}</Text>
              {isWebAddress(app.baaUrl) && (
                <Anchor href={app.baaUrl} target="_blank" rel="noopener">
                  {t.baaRead}
                </Anchor>
              )}
              <Checkbox
                label={t.acceptBaa(practiceName(alias))}
                checked={isBaaAccepted}
                onChange={(event) =>
                  setAgreement({ ...agreement, baa: event.currentTarget.checked ? baaOf(app) : undefined })
                }
                error={isChecked && !isBaaAccepted && t.mustAcceptBaa}
              />
            </Stack>
          </section>
        )}
        {create.error !== null && !isConfirming && <ErrorNotice error={create.error} />}
        <Button type="submit" size="md" className="submit">
          {t.review}
        </Button>
      </Stack>
      <ConfirmDialog
        isOpen={isConfirming && isComplete}
        alias={alias}
        app={app}
        plan={plan}
        terms={terms}
        canHaveTrial={canHaveTrial}
        isSending={create.isPending}
        error={create.error}
        onConfirm={() => create.mutate({ plan, quantity: terms.isValid ? terms.quantity : undefined })}
        onClose={() => setConfirmedPlan(undefined)}
      />
    </form>
  );
}

interface ChosenTerms {
  plan: PricingPlanDto;
  quantity: number | undefined;
}

/**
 * Subscribes to what was shown: if the app's scopes or its agreement have changed since, nothing is created, and the form shows what
 * there is to agree to now.
 */
function useCreateSubscription(alias: string, app: AppDto, onChanged: () => void) {
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: ({ plan, quantity }: ChosenTerms) => {
      const body = {
        appSlug: app.slug,
        orgAlias: alias,
        pricingPlanId: plan.id,
        ...(quantity !== undefined && { quantity }),
        fhirScopes: app.fhirScopes,
        ...(app.baaRequired && { acceptBaa: true, baaSha256: app.baaSha256 ?? null }),
      };
      return marketplace("POST /subscriptions", { body, headers: { "idempotency-key": keys.keyFor(body) } });
    },
    onSuccess: async () => {
      keys.forget();
      await queries.invalidateQueries({ queryKey: practiceKey(alias) });
      await navigate({ to: "/console/subscribed/$slug", params: { slug: app.slug }, search: { practice: alias } });
    },
    onError: (error) => {
      if (!mayPass(error)) onChanged();
      return queries.invalidateQueries({ queryKey: appQuery(app.slug).queryKey });
    },
  });
}
