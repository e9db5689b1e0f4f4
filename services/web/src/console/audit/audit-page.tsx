import { Button, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatDate, formatList } from "../../storefront/format.ts";
import { subscriptionsQuery } from "../api/practice-queries.ts";
import { auditQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import type { AuditSearch } from "../search-params.ts";
import { TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { Pager, usePageFocus } from "../shell/pager.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { actionChoices, isFiltered, isReversed, toAuditFilters, withFilter } from "./audit-filters.ts";
import { AuditTable } from "./audit-table.tsx";

const t = texts.audit;
const route = getRouteApi("/practice/$alias/audit");

/** Every change that was made for the practice. Filters and the page are in the URL. */
export function AuditPage() {
  const { alias } = route.useParams();
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  if (!isAdmin) {
    return (
      <Page title={t.title}>
        <EmptyNotice title={t.adminsOnly} text={t.adminsOnlyText}>
          <TextLink to="/practice/$alias" params={{ alias }}>
            {texts.notFound.toStart}
          </TextLink>
        </EmptyNotice>
      </Page>
    );
  }
  return (
    <Page
      title={t.title}
      action={
        <Button variant="default" className="no-print" onClick={() => window.print()}>
          {t.print}
        </Button>
      }
    >
      <Text c="dimmed" maw="42rem">
        {t.text(practiceName(alias))}
      </Text>
      <Log alias={alias} />
    </Page>
  );
}

function Log({ alias }: { alias: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const audit = useQuery(auditQuery(alias, toAuditFilters(search)));
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery(alias));
  const list = usePageFocus(search.after);
  const clear = (): void => void navigate({ search: {}, replace: true });
  const nameOf = (id: string): string => {
    const known = subscriptions.find((each) => each.id === id);
    return known?.app?.name ?? known?.appSlug ?? id;
  };
  return (
    <>
      <Text className="only-print">{t.printed(practiceName(alias), describeFilters(search, nameOf))}</Text>
      <Filters
        targetChoices={subscriptions.map(({ id, createdAt }) => ({
          value: id,
          label: `${nameOf(id)}, ${formatDate(createdAt)}`,
        }))}
        count={audit.data}
        onClear={clear}
      />
      <div ref={list} tabIndex={-1} className="results">
        <QueryView query={audit} skeleton={<RowsSkeleton rows={8} />}>
          {({ items }) => {
            if (items.length > 0) return <AuditTable alias={alias} entries={items} subscriptions={subscriptions} />;
            if (!isFiltered(search) && search.after === undefined)
              return <EmptyNotice title={t.empty} text={t.emptyText} />;
            const [title, text] = isReversed(search) ? [t.reversed, t.reversedText] : [t.noMatch, t.noMatchText];
            return (
              <EmptyNotice title={title} text={text}>
                <Button variant="default" onClick={clear}>
                  {t.clear}
                </Button>
              </EmptyNotice>
            );
          }}
        </QueryView>
      </div>
      <Pager
        after={search.after}
        next={audit.data?.next}
        onGo={(cursor) => {
          const { after: _page, ...filters } = search;
          void navigate({ search: cursor === undefined ? filters : { ...filters, after: cursor } });
        }}
      />
    </>
  );
}

/** For paper, where the fields aren't. */
function describeFilters({ from, to, action, target }: AuditSearch, nameOf: (id: string) => string): string {
  const parts = [
    action === undefined ? undefined : (texts.actions[action] ?? action),
    target === undefined ? undefined : nameOf(target),
    from === undefined ? undefined : `${t.from} ${from}`,
    to === undefined ? undefined : `${t.to} ${to}`,
  ];
  return formatList(parts.filter((part) => part !== undefined));
}

interface FiltersProps {
  targetChoices: Choice[];
  count: { items: unknown[]; next: string | null } | undefined;
  onClear: () => void;
}

interface Choice {
  value: string;
  label: string;
}

/** Keeps what the URL has, also if it isn't among the choices. */
function withCurrent(choices: Choice[], current: string | undefined, any: string): Choice[] {
  const isKnown = current === undefined || choices.some(({ value }) => value === current);
  return [{ value: "", label: any }, ...(isKnown ? [] : [{ value: current, label: current }]), ...choices];
}

function Filters({ targetChoices, count, onClear }: FiltersProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const fieldOf = (name: "from" | "to" | "action" | "target") => ({
    value: search[name] ?? "",
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }): void =>
      void navigate({ search: withFilter(search, name, value), replace: true }),
  });
  return (
    <Group align="flex-end" role="search" className="no-print">
      <TextInput type="date" label={t.from} {...fieldOf("from")} />
      <TextInput type="date" label={t.to} {...fieldOf("to")} />
      <NativeSelect
        label={t.action}
        data={withCurrent(actionChoices, search.action, t.anyAction)}
        {...fieldOf("action")}
      />
      <NativeSelect
        label={t.target}
        className="target"
        data={withCurrent(targetChoices, search.target, t.anyTarget)}
        {...fieldOf("target")}
      />
      <Text size="sm" c="dimmed" role="status" className="count">
        {count === undefined ? "" : t.shown(count.items.length, count.next !== null)}
      </Text>
      {isFiltered(search) && (
        <Button variant="subtle" onClick={onClear}>
          {t.clear}
        </Button>
      )}
    </Group>
  );
}
