import type { AppDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Anchor, Group, Radio, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { appQuery, pricingQuery } from "../api/catalog-queries.ts";
import { subscriptionsQuery } from "../api/practice-queries.ts";
import { useSession } from "../api/session.ts";
import { AppIcon } from "../app-icon.tsx";
import { practiceName } from "../practice-name.ts";
import { ButtonLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { SubscribeForm } from "./subscribe-form.tsx";
import { findLive, hadTrial } from "./terms.ts";

const t = texts.subscribe;
const route = getRouteApi("/console/subscribe/$slug");

/** Where the storefront's "Subscribe" leads to. */
export function SubscribePage() {
  const { slug } = route.useParams();
  const app = useQuery(appQuery(slug));
  const plans = useQuery(pricingQuery(slug));
  return (
    <Page title={app.data === undefined ? t.button : t.title(app.data.name)}>
      <QueryView query={app} skeleton={<FormSkeleton />}>
        {(data) => (
          <>
            <AppHead app={data} />
            <QueryView query={plans} skeleton={<FormSkeleton />}>
              {(offered) => <ForPractice app={data} plans={offered} />}
            </QueryView>
          </>
        )}
      </QueryView>
    </Page>
  );
}

const FormSkeleton = () => <Skeleton height={320} />;

function AppHead({ app }: { app: AppDto }) {
  return (
    <Group wrap="nowrap" align="flex-start">
      <AppIcon url={app.iconUrl} size={56} />
      <Stack gap={2}>
        <Text>{app.summary}</Text>
        <Anchor href={`/apps/${encodeURIComponent(app.slug)}`} size="sm">
          {t.toApp(app.name)}
        </Anchor>
      </Stack>
    </Group>
  );
}

/** Subscribing is for a practice, by one of its admins, and once. */
function ForPractice({ app, plans }: { app: AppDto; plans: PricingPlanDto[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const practices = useSession().practices.filter(({ isAdmin }) => isAdmin);
  const chosen = practices.find(({ alias }) => alias === search.practice) ?? practices[0];
  if (chosen === undefined) {
    return (
      <EmptyNotice title={t.notAdmin} text={t.notAdminText}>
        <ButtonLink to="/console" variant="default">
          {texts.notFound.toStart}
        </ButtonLink>
      </EmptyNotice>
    );
  }
  return (
    <Stack gap="lg">
      {practices.length > 1 && (
        <Radio.Group
          label={t.practice}
          value={chosen.alias}
          onChange={(practice) => void navigate({ search: { ...search, practice }, replace: true })}
        >
          <Group mt="xs">
            {practices.map(({ alias }) => (
              <Radio key={alias} value={alias} label={practiceName(alias)} />
            ))}
          </Group>
        </Radio.Group>
      )}
      <UnlessSubscribed key={chosen.alias} alias={chosen.alias} app={app} plans={plans} />
    </Stack>
  );
}

function UnlessSubscribed({ alias, app, plans }: { alias: string; app: AppDto; plans: PricingPlanDto[] }) {
  const subscriptions = useQuery(subscriptionsQuery(alias));
  const [first] = plans;
  return (
    <QueryView query={subscriptions} skeleton={<FormSkeleton />}>
      {(known) => {
        const live = findLive(known, app.slug);
        if (live !== undefined) {
          return (
            <EmptyNotice title={t.already(practiceName(alias), app.name)} text="">
              <ButtonLink to="/practice/$alias/subscriptions" params={{ alias }} search={{ open: live.id }}>
                {t.toSubscription}
              </ButtonLink>
            </EmptyNotice>
          );
        }
        if (first === undefined) return <Text>{t.noPlans}</Text>;
        return <SubscribeForm alias={alias} app={app} plans={plans} canHaveTrial={!hadTrial(known, app.slug)} />;
      }}
    </QueryView>
  );
}
