import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Button, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useId, useState } from "react";
import { subscriptionsQuery } from "../api/practice-queries.ts";
import { type StatusFilter, statusFilters } from "../search-params.ts";
import { Page } from "../shell/page.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { filterSubscriptions, whyEmpty } from "./filter-subscriptions.ts";
import { SubscriptionDrawer } from "./subscription-drawer.tsx";
import { SubscriptionTable } from "./subscription-table.tsx";

const t = texts.subscriptions;
const route = getRouteApi("/practice/$alias/subscriptions");

/** What the practice subscribes to. Filters and the open details are in the URL. */
export function SubscriptionsPage() {
  const { alias } = route.useParams();
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const subscriptions = useQuery(subscriptionsQuery(alias));
  const opened = subscriptions.data?.find(({ id }) => id === open);
  // A new one may be missing in a list that is being read anew.
  const isUnknown = open !== undefined && opened === undefined && !subscriptions.isFetching;
  const show = (id: string | undefined): void =>
    void navigate({ search: ({ open: _closed, ...rest }) => (id === undefined ? rest : { ...rest, open: id }) });
  return (
    <Page
      title={t.title}
      action={
        <Button component="a" href="/apps">
          {texts.shell.browse}
        </Button>
      }
    >
      <QueryView query={subscriptions} skeleton={<RowsSkeleton rows={6} />}>
        {(all) => (
          <>
            {isUnknown && (
              <EmptyNotice title={t.notFound} text={t.notFoundText}>
                <Button variant="default" onClick={() => show(undefined)}>
                  {texts.close}
                </Button>
              </EmptyNotice>
            )}
            {whyEmpty(all, {}) === "none" ? (
              <EmptyNotice title={t.empty} text={t.emptyText}>
                <Button component="a" href="/apps" variant="default">
                  {texts.shell.browse}
                </Button>
              </EmptyNotice>
            ) : (
              <FilteredTable all={all} alias={alias} onOpen={show} />
            )}
          </>
        )}
      </QueryView>
      <SubscriptionDrawer alias={alias} subscription={opened} onClose={() => show(undefined)} />
    </Page>
  );
}

/** Each row asks for its costs: more rows are shown by a button. */
const rowsAtOnce = 50;

interface FilteredTableProps {
  all: ListedSubscriptionDto[];
  alias: string;
  onOpen: (id: string) => void;
}

function FilteredTable({ all, alias, onOpen }: FilteredTableProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [limit, setLimit] = useState(rowsAtOnce);
  const matching = filterSubscriptions(all, search);
  const shown = matching.slice(0, limit);
  const empty = whyEmpty(all, search);
  const isFiltered = search.q !== undefined || search.status !== undefined;
  const countId = useId();
  const clear = (): void => void navigate({ search: {}, replace: true });
  return (
    <>
      <Group align="flex-end" role="search" aria-describedby={countId}>
        <TextInput
          type="search"
          label={t.search}
          value={search.q ?? ""}
          maxLength={200}
          onChange={(event) => {
            const q = event.currentTarget.value;
            void navigate({ search: ({ q: _old, ...rest }) => (q === "" ? rest : { ...rest, q }), replace: true });
          }}
        />
        <NativeSelect
          label={t.status}
          value={search.status ?? "live"}
          data={statusFilters.map((value) => ({ value, label: t.statuses[value] }))}
          onChange={(event) => {
            const status = event.currentTarget.value as StatusFilter;
            // One can go back to what was chosen before; typing would leave a step for each letter.
            void navigate({ search: (old) => ({ ...old, status }) });
          }}
        />
        <Text id={countId} size="sm" c="dimmed" role="status" className="count">
          {t.shown(shown.length, matching.length)}
        </Text>
        {isFiltered && (
          <Button variant="subtle" onClick={clear}>
            {t.clear}
          </Button>
        )}
      </Group>
      {empty === "noneLive" && (
        <EmptyNotice title={t.noneLive} text={t.noneLiveText}>
          <Button variant="default" onClick={() => void navigate({ search: { status: "cancelled" } })}>
            {t.showCancelled}
          </Button>
        </EmptyNotice>
      )}
      {empty === "noMatch" && (
        <EmptyNotice title={t.noMatch} text={t.noMatchText}>
          <Button variant="default" onClick={clear}>
            {t.clear}
          </Button>
        </EmptyNotice>
      )}
      {shown.length > 0 && <SubscriptionTable subscriptions={shown} alias={alias} onOpen={onOpen} />}
      {shown.length < matching.length && (
        <Group>
          <Button variant="default" onClick={() => setLimit(limit + rowsAtOnce)}>
            {t.more}
          </Button>
        </Group>
      )}
    </>
  );
}
