import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { Button, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatDate } from "../../storefront/format.ts";
import { installationsQuery, subscriptionsQuery } from "../api/practice-queries.ts";
import { useSession } from "../api/session.ts";
import { AppIcon } from "../app-icon.tsx";
import { TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { describeConnection } from "../subscriptions/connection-text.ts";
import { ConnectionView } from "../subscriptions/connection-view.tsx";
import { texts } from "../texts.ts";
import { type ListedApp, listApps } from "./list-apps.ts";

const t = texts.installedApps;
const route = getRouteApi("/practice/$alias/apps");

/** What is installed in the practice's EHR, as the EHR says, and what it should have installed by now. */
export function InstalledAppsPage() {
  const { alias } = route.useParams();
  const installations = useQuery(installationsQuery(alias));
  const { data: subscriptions = [], error: marketplaceError } = useQuery(subscriptionsQuery(alias));
  return (
    <Page title={t.title}>
      {marketplaceError !== null && <Text c="dimmed">{t.withoutWaiting}</Text>}
      <QueryView query={installations} skeleton={<RowsSkeleton rows={5} />}>
        {(installed) => {
          const apps = listApps(installed, subscriptions);
          if (apps.length > 0) return <AppTable apps={apps} alias={alias} />;
          return (
            <EmptyNotice title={t.empty} text={t.emptyText}>
              <Button component="a" href="/apps" variant="default">
                {texts.shell.browse}
              </Button>
            </EmptyNotice>
          );
        }}
      </QueryView>
    </Page>
  );
}

function AppTable({ apps, alias }: { apps: ListedApp[]; alias: string }) {
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  return (
    <Table className="rows" verticalSpacing="xs">
      <Table.Caption className="hidden">{t.caption}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          {Object.entries(t.columns).map(([key, label]) => (
            <Table.Th key={key} scope="col">
              {label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {apps.map((app) => (
          <Table.Tr key={app.subscriptionId}>
            <Table.Td data-label={t.columns.app}>
              <Group gap="sm" wrap="nowrap">
                <AppIcon url={app.iconUrl} size={32} />
                <TextLink
                  to="/practice/$alias/subscriptions"
                  params={{ alias }}
                  search={{ open: app.subscriptionId }}
                  fw={600}
                  inherit
                >
                  {app.name}
                </TextLink>
              </Group>
            </Table.Td>
            <Table.Td data-label={t.columns.state}>{texts.status[app.status]}</Table.Td>
            <Table.Td data-label={t.columns.signIn}>
              {app.status === "paused" ? (
                texts.connection.paused
              ) : (
                <ConnectionView {...describeConnection(app.installation)} />
              )}
            </Table.Td>
            <Table.Td data-label={t.columns.since}>
              {app.installation === undefined ? texts.connection.none : formatDate(app.installation.installedAt)}
            </Table.Td>
            <Table.Td data-label={t.columns.settings}>
              {app.installation === undefined ? (
                texts.connection.none
              ) : (
                <Links alias={alias} installation={app.installation} isAdmin={isAdmin} />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface LinksProps {
  alias: string;
  installation: InstallationDto;
  isAdmin: boolean;
}

function Links({ alias, installation: { appSlug: slug, name }, isAdmin }: LinksProps) {
  return (
    <Group gap="sm">
      <TextLink to="/practice/$alias/apps/$slug" params={{ alias, slug }} aria-label={t.settings(name)} inherit>
        {t.settingsLink}
      </TextLink>
      {isAdmin && (
        <TextLink
          to="/practice/$alias/apps/$slug/launches"
          params={{ alias, slug }}
          aria-label={texts.launches.linkOf(name)}
          inherit
        >
          {texts.launches.link}
        </TextLink>
      )}
    </Group>
  );
}
