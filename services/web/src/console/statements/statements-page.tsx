import type { StatementPage } from "@ehr-marketplace/client/marketplace";
import { Badge, Button, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatMoney, formatMonth } from "../../storefront/format.ts";
import { statementsQuery } from "../api/practice-queries.ts";
import { TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { Pager, usePageFocus } from "../shell/pager.tsx";
import { EmptyNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { MonthChart } from "./month-chart.tsx";
import { readSeries } from "./month-series.ts";

const t = texts.statements;
const route = getRouteApi("/practice/$alias/statements");

type Statements = StatementPage["items"];

/** What each month has cost. Which page is shown is in the URL. */
export function StatementsPage() {
  const { alias } = route.useParams();
  const { after } = route.useSearch();
  const navigate = route.useNavigate();
  const statements = useQuery(statementsQuery(alias, after));
  const list = usePageFocus(after);
  return (
    <Page title={t.title}>
      <Text c="dimmed">{t.text}</Text>
      <div ref={list} tabIndex={-1} className="results">
        <QueryView query={statements} skeleton={<RowsSkeleton rows={8} />}>
          {({ items }) =>
            items.every(({ totals }) => totals.length === 0) ? (
              <EmptyNotice title={t.empty} text={t.emptyText}>
                <Button component="a" href="/apps" variant="default">
                  {texts.shell.browse}
                </Button>
              </EmptyNotice>
            ) : (
              <div className="statements">
                <StatementTable alias={alias} statements={items} />
                <Stack>
                  {readSeries(items).map((series) => (
                    <MonthChart key={series.currency} {...series} />
                  ))}
                </Stack>
              </div>
            )
          }
        </QueryView>
      </div>
      <Pager
        after={after}
        next={statements.data?.next}
        onGo={(cursor) => void navigate({ search: cursor === undefined ? {} : { after: cursor } })}
      />
    </Page>
  );
}

function StatementTable({ alias, statements }: { alias: string; statements: Statements }) {
  return (
    <Table className="rows" verticalSpacing="xs" highlightOnHover>
      <Table.Caption className="hidden">{t.caption}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.columns.month}</Table.Th>
          <Table.Th scope="col">{t.columns.state}</Table.Th>
          <Table.Th scope="col" className="amount">
            {t.columns.total}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {statements.map(({ month, status, totals }) => (
          <Table.Tr key={month}>
            <Table.Td data-label={t.columns.month}>
              <TextLink to="/practice/$alias/statements/$month" params={{ alias, month }} fw={600}>
                {formatMonth(month)}
              </TextLink>
            </Table.Td>
            <Table.Td data-label={t.columns.state}>
              <StatementBadge status={status} />
            </Table.Td>
            <Table.Td data-label={t.columns.total} className="amount">
              <div>
                {totals.map(({ currency, total }) => (
                  <div key={currency}>{formatMoney(total, currency)}</div>
                ))}
                {totals.length === 0 && (
                  <Text size="sm" c="dimmed">
                    {t.nothing}
                  </Text>
                )}
              </div>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Whether a statement can still change. */
export function StatementBadge({ status }: { status: Statements[number]["status"] }) {
  return (
    <Badge color={status === "open" ? "warning" : "positive"} variant="light" className="badge">
      {t.states[status]}
    </Badge>
  );
}
