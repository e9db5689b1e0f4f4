import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef } from "react";
import { appQuery } from "../api/catalog-queries.ts";
import { installationQuery } from "../api/practice-queries.ts";
import { practiceName } from "../practice-name.ts";
import { DoneIcon, FailedIcon, WaitingIcon } from "../shell/icons.tsx";
import { ButtonLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { texts } from "../texts.ts";
import { isSettled, pollDelay, slowMs } from "./installation-progress.ts";

const t = texts.subscribed;
const route = getRouteApi("/console/subscribed/$slug");

/** Follows the installation until the app can be used in the EHR. */
export function SubscribedPage() {
  const { slug } = route.useParams();
  const { practice } = route.useSearch();
  const { data: app } = useQuery(appQuery(slug));
  const startedAt = useRef(Date.now());
  const {
    data: installation,
    error,
    dataUpdatedAt,
  } = useQuery({
    ...installationQuery(practice, slug),
    staleTime: 0,
    retry: false,
    refetchInterval: ({ state }) =>
      isSettled(state.data) ? false : pollDelay(state.dataUpdateCount + state.errorUpdateCount),
  });
  const isWaiting = !isSettled(installation);
  const isSlow = dataUpdatedAt - startedAt.current > slowMs;
  const name = app?.name ?? installation?.name ?? slug;
  return (
    <Page title={t.title(name)}>
      <Stack className="card" role="status" aria-live="polite">
        <Step state="done" text={t.subscribed(practiceName(practice))} />
        <InstallationSteps installation={installation ?? undefined} />
        {isWaiting && error !== null && <Text c="dimmed">{t.unreachable}</Text>}
        {isWaiting && error === null && isSlow && <Text c="dimmed">{t.slow}</Text>}
      </Stack>
      <Group>
        {installation && app !== undefined && app.configSchema !== null && (
          <ButtonLink to="/practice/$alias/apps/$slug" params={{ alias: practice, slug }}>
            {t.settings}
          </ButtonLink>
        )}
        <ButtonLink
          to="/practice/$alias/subscriptions"
          params={{ alias: practice }}
          variant={installation && app?.configSchema ? "default" : "filled"}
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
      {connection?.status === "failed" && <Step state="failed" text={t.failed(connection.reason ?? "")} />}
    </>
  );
}
