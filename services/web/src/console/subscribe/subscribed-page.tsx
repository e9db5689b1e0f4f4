import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { appQuery } from "../api/catalog-queries.ts";
import { installationQuery, subscriptionsQuery } from "../api/practice-queries.ts";
import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { DoneIcon, FailedIcon, WaitingIcon } from "../shell/icons.tsx";
import { ButtonLink } from "../shell/links.tsx";
import { NotMember } from "../shell/not-member.tsx";
import { Page } from "../shell/page.tsx";
import { EmptyNotice, ErrorNotice } from "../states/notices.tsx";
import { Loading } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { isPaused, isSettled, pollDelay, slowMs } from "./installation-progress.ts";
import { findLive } from "./terms.ts";

const t = texts.subscribed;
const route = getRouteApi("/console/subscribed/$slug");

/** Where subscribing leads to. The address says only for whom and what: what is subscribed is read. */
export function SubscribedPage() {
  const { practice } = route.useSearch();
  const isMember = useSession().practices.some(({ alias }) => alias === practice);
  return isMember ? <SubscribedApp /> : <NotMember alias={practice} />;
}

function SubscribedApp() {
  const { slug } = route.useParams();
  const { practice } = route.useSearch();
  const app = useQuery(appQuery(slug));
  const subscriptions = useQuery(subscriptionsQuery(practice));
  const { data, error, isFetching } = subscriptions;
  const live = findLive(data ?? [], slug);
  const name = app.data?.name ?? live?.app?.name ?? slug;
  // What was read before the practice has subscribed doesn't count.
  if (live === undefined && (data === undefined || isFetching || error !== null)) {
    return (
      <Page title={t.untitled}>
        {error === null || isFetching ? (
          <Loading>
            <Skeleton height={120} />
          </Loading>
        ) : (
          <ErrorNotice error={error} onRetry={subscriptions.refetch} />
        )}
      </Page>
    );
  }
  if (live === undefined) {
    return (
      <EmptyNotice level={1} title={t.none(practiceName(practice), name)} text={t.noneText}>
        <ButtonLink to="/console/subscribe/$slug" params={{ slug }} search={{ practice }}>
          {t.subscribe(name)}
        </ButtonLink>
      </EmptyNotice>
    );
  }
  return <Installation name={name} hasSettings={app.data !== undefined && app.data.configSchema !== null} />;
}

/** Follows the installation until the app can be used in the EHR. */
function Installation({ name, hasSettings }: { name: string; hasSettings: boolean }) {
  const { slug } = route.useParams();
  const { practice } = route.useSearch();
  const [startedAt, setStartedAt] = useState(Date.now);
  const followed = (...times: number[]): number => Math.max(...times) - startedAt;
  const {
    data: installation,
    error,
    dataUpdatedAt,
    errorUpdatedAt,
    refetch,
  } = useQuery({
    ...installationQuery(practice, slug),
    staleTime: 0,
    retry: false,
    refetchInterval: ({ state }) =>
      isSettled(state.data) || isPaused(followed(state.dataUpdatedAt, state.errorUpdatedAt))
        ? false
        : pollDelay(state.dataUpdateCount + state.errorUpdateCount),
  });
  const isWaiting = !isSettled(installation);
  const hasStopped = isWaiting && isPaused(followed(dataUpdatedAt, errorUpdatedAt));
  const isSlow = followed(dataUpdatedAt) > slowMs;
  return (
    <Page title={t.title(name)}>
      <Stack className="card" role="status" aria-live="polite">
        <Step state="done" text={t.subscribed(practiceName(practice))} />
        <InstallationSteps installation={installation ?? undefined} />
        {isWaiting && error !== null && <Text c="dimmed">{t.unreachable}</Text>}
        {isWaiting && error === null && isSlow && !hasStopped && <Text c="dimmed">{t.slow}</Text>}
        {hasStopped && <Text c="dimmed">{t.paused}</Text>}
      </Stack>
      <Group>
        {hasStopped && (
          <Button
            onClick={() => {
              setStartedAt(Date.now());
              void refetch();
            }}
          >
            {t.again}
          </Button>
        )}
        {installation && hasSettings && (
          <ButtonLink to="/practice/$alias/apps/$slug" params={{ alias: practice, slug }}>
            {t.settings}
          </ButtonLink>
        )}
        <ButtonLink
          to="/practice/$alias/subscriptions"
          params={{ alias: practice }}
          variant={hasStopped || (installation && hasSettings) ? "default" : "filled"}
        >
          {t.subscription}
        </ButtonLink>
        <Button component="a" href="/apps" variant="default">
          {t.more}
        </Button>
      </Group>
    </Page>
  );
}

type StepState = "done" | "waiting" | "failed";
const icons = { done: <DoneIcon />, waiting: <WaitingIcon />, failed: <FailedIcon /> };

function Step({ state, text }: { state: StepState; text: string }) {
  return (
    <Group wrap="nowrap" gap="sm" className={`step ${state}`}>
      {icons[state]}
      <Text>{text}</Text>
    </Group>
  );
}

function InstallationSteps({ installation }: { installation: InstallationDto | undefined }) {
  if (installation === undefined) return <Step state="waiting" text={t.installing} />;
  const { connection } = installation;
  return (
    <>
      <Step state="done" text={t.installed} />
      {connection?.status === "ready" && <Step state="done" text={t.connected} />}
      {connection?.status === "pending" && <Step state="waiting" text={t.connecting} />}
      {connection?.status === "failed" && (
        <>
          <Step state="failed" text={t.failed(connection.reason ?? "")} />
          <Text c="dimmed">{texts.connections.advice.failed}</Text>
        </>
      )}
    </>
  );
}
