import type { LaunchLogEntry } from "@ehr-marketplace/client/ehr";
import { Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatTime } from "../../storefront/format.ts";
import { appQuery } from "../api/catalog-queries.ts";
import { installationQuery } from "../api/practice-queries.ts";
import { launchesQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { ButtonLink, TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { Pager, usePageFocus } from "../shell/pager.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";

const t = texts.launches;
const route = getRouteApi("/practice/$alias/apps/$slug/launches");

/** Who has opened an app, and when. The API names no patients. */
export function LaunchesPage() {
  const { alias, slug } = route.useParams();
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  const { data: installation } = useQuery(installationQuery(alias, slug));
  const { data: app } = useQuery({ ...appQuery(slug), enabled: installation === null });
  return (
    <Page title={t.title(installation?.name ?? app?.name ?? slug)}>
      {isAdmin ? (
        <Launches alias={alias} slug={slug} isInstalled={installation !== null} />
      ) : (
        <EmptyNotice title={t.adminsOnly} text={t.adminsOnlyText}>
          <TextLink to="/practice/$alias/apps" params={{ alias }}>
            {t.toApps}
          </TextLink>
        </EmptyNotice>
      )}
    </Page>
  );
}

function Launches({ alias, slug, isInstalled }: { alias: string; slug: string; isInstalled: boolean }) {
  const { after } = route.useSearch();
  const navigate = route.useNavigate();
  const launches = useQuery(launchesQuery(alias, slug, after));
  const list = usePageFocus(after);
  return (
    <>
      <Text c="dimmed" maw="42rem">
        {t.text(practiceName(alias))}
      </Text>
      <Group gap="md">
        <TextLink to="/practice/$alias/apps" params={{ alias }}>
          {t.toApps}
        </TextLink>
        {isInstalled && (
          <TextLink to="/practice/$alias/apps/$slug" params={{ alias, slug }}>
            {t.toSettings}
          </TextLink>
        )}
      </Group>
      <div ref={list} tabIndex={-1} className="results">
        <QueryView query={launches} skeleton={<RowsSkeleton rows={6} />}>
          {(log) => {
            if (log === null) {
              return (
                <EmptyNotice title={t.notInstalled} text={t.notInstalledText}>
                  <ButtonLink to="/practice/$alias/apps" params={{ alias }} variant="default">
                    {t.toApps}
                  </ButtonLink>
                </EmptyNotice>
              );
            }
            if (log.items.length > 0) return <LaunchTable items={log.items} />;
            return after === undefined ? (
              <EmptyNotice title={t.empty} text={t.emptyText} />
            ) : (
              <EmptyNotice title={t.older} text={t.olderText} />
            );
          }}
        </QueryView>
      </div>
      <Pager
        after={after}
        next={launches.data?.next}
        onGo={(cursor) => void navigate({ search: cursor === undefined ? {} : { after: cursor } })}
      />
    </>
  );
}

function LaunchTable({ items }: { items: LaunchLogEntry[] }) {
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
        {items.map(({ launchId, launchedAt, user, launchType }) => (
          <Table.Tr key={launchId}>
            <Table.Td data-label={t.columns.at}>
              <time dateTime={launchedAt}>{formatTime(new Date(launchedAt))}</time>
            </Table.Td>
            <Table.Td data-label={t.columns.user} className="entered">
              {user}
            </Table.Td>
            <Table.Td data-label={t.columns.type}>{t.types[launchType]}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
