import { Button, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { installationsQuery, subscriptionsQuery } from "../api/practice-queries.ts";
import { unreadNoticesQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { AppIcon } from "../app-icon.tsx";
import { NoticeList } from "../notices/notice-list.tsx";
import { TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { NoLongerOffered } from "../subscriptions/no-longer-offered.tsx";
import { StateBadge } from "../subscriptions/state-badge.tsx";
import { texts } from "../texts.ts";
import { CostsCard } from "./costs-card.tsx";
import { putAttentionFirst } from "./put-attention-first.ts";

const t = texts.overview;
const route = getRouteApi("/practice/$alias");

/** What a practice has, what it costs this month, and what needs attention. */
export function OverviewPage() {
  const { alias } = route.useParams();
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  return (
    <Page
      title={t.title}
      action={
        <Button component="a" href="/apps">
          {texts.shell.browse}
        </Button>
      }
    >
      {!isAdmin && <Text c="dimmed">{texts.memberNote}</Text>}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Apps alias={alias} />
        <Stack gap="lg">
          <CostsCard alias={alias} />
          <Notices alias={alias} />
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

const shownApps = 8;

function Apps({ alias }: { alias: string }) {
  const subscriptions = useQuery(subscriptionsQuery(alias));
  const { data: installations = [], error: ehrError } = useQuery(installationsQuery(alias));
  const canNotSignIn = new Set(
    installations
      .filter(({ connection }) => connection?.status === "failed")
      .map(({ subscriptionId }) => subscriptionId),
  );
  return (
    <section className="card" aria-labelledby="apps">
      <Stack>
        <Title order={2} id="apps">
          {t.apps}
        </Title>
        <QueryView query={subscriptions} skeleton={<RowsSkeleton rows={4} />}>
          {(all) => {
            const live = all.filter(({ status }) => status !== "cancelled");
            if (live.length === 0) return <EmptyNotice title={t.empty} text={t.emptyText} />;
            return (
              <>
                {ehrError !== null && (
                  <Text size="sm" c="dimmed">
                    {texts.connection.unknownAll}
                  </Text>
                )}
                <ul className="plain">
                  {putAttentionFirst(live, canNotSignIn)
                    .slice(0, shownApps)
                    .map(({ id, app, appSlug, status, pauseReason, trialEndsAt, pendingScopes, isOffered }) => (
                      <li key={id} className="app-row">
                        <AppIcon url={app?.iconUrl} size={32} />
                        <div>
                          <TextLink to="/practice/$alias/subscriptions" params={{ alias }} search={{ open: id }}>
                            {app?.name ?? appSlug}
                          </TextLink>
                          <NoLongerOffered isOffered={isOffered} status={status} />
                          {canNotSignIn.has(id) && (
                            <Text size="xs" className="failed">
                              {texts.connection.failed}
                            </Text>
                          )}
                          {pendingScopes !== "" && (
                            <Text size="xs" className="attention">
                              {texts.addedAccess.short}
                            </Text>
                          )}
                        </div>
                        <StateBadge status={status} pauseReason={pauseReason} trialEndsAt={trialEndsAt} />
                      </li>
                    ))}
                </ul>
                {live.length > shownApps && <Text size="sm">{t.shown(shownApps, live.length)}</Text>}
                <TextLink to="/practice/$alias/subscriptions" params={{ alias }} size="sm">
                  {t.allApps}
                </TextLink>
              </>
            );
          }}
        </QueryView>
      </Stack>
    </section>
  );
}

const shownNotices = 5;

function Notices({ alias }: { alias: string }) {
  const notices = useQuery(unreadNoticesQuery(alias));
  return (
    <section className="card" aria-labelledby="notices">
      <Stack gap="sm">
        <Title order={2} id="notices">
          {t.notices}
        </Title>
        <QueryView query={notices} skeleton={<RowsSkeleton rows={2} />}>
          {({ items }) =>
            items.length === 0 ? (
              <Text c="dimmed">{t.noNotices}</Text>
            ) : (
              <NoticeList alias={alias} items={items.slice(0, shownNotices)} />
            )
          }
        </QueryView>
        <TextLink to="/practice/$alias/notices" params={{ alias }} size="sm">
          {texts.notices.all}
        </TextLink>
      </Stack>
    </section>
  );
}
