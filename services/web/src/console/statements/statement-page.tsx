import type { StatementDto } from "@ehr-marketplace/client/marketplace";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { formatMoney, formatMonth, formatTime } from "../../storefront/format.ts";
import { statementQuery } from "../api/practice-queries.ts";
import { practiceName } from "../practice-name.ts";
import { TextLink } from "../shell/links.tsx";
import { Page } from "../shell/page.tsx";
import { EmptyNotice, ErrorNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { downloadCsv } from "./download-csv.ts";
import { groupLines } from "./group-lines.ts";
import { LineTable } from "./line-table.tsx";
import { StatementBadge } from "./statements-page.tsx";

const t = texts.statement;
const route = getRouteApi("/practice/$alias/statements/$month");

const isMonth = (text: string): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(text);

/** What a month has cost, line by line, to read, to print, and as a file. */
export function StatementPage() {
  const { alias, month } = route.useParams();
  const statement = useQuery(statementQuery(alias, month));
  return (
    <Page
      title={t.title(isMonth(month) ? formatMonth(month) : month)}
      action={statement.data !== undefined && <Tools alias={alias} month={month} />}
    >
      <TextLink to="/practice/$alias/statements" params={{ alias }} className="no-print">
        {t.all}
      </TextLink>
      <QueryView query={statement} skeleton={<RowsSkeleton rows={8} />}>
        {(data) => (
          <>
            <Facts statement={data} readAt={statement.dataUpdatedAt} />
            {data.totals.length === 0 ? (
              <EmptyNotice title={t.empty} text={t.emptyText}>
                <TextLink to="/practice/$alias/subscriptions" params={{ alias }} className="no-print">
                  {texts.overview.allApps}
                </TextLink>
              </EmptyNotice>
            ) : (
              groupLines(data).map((group) => <LineTable key={group.currency} group={group} />)
            )}
            <Text size="sm" c="dimmed">
              {t.noInvoice} {t.zone}
            </Text>
          </>
        )}
      </QueryView>
    </Page>
  );
}

function Facts({ statement: { orgAlias, status, asOf, totals }, readAt }: { statement: StatementDto; readAt: number }) {
  const read = formatTime(new Date(readAt));
  return (
    <dl className="facts card">
      <dt>{t.practice}</dt>
      <dd>
        {practiceName(orgAlias)} <span className="only-print inline">({orgAlias})</span>
      </dd>
      <dt>{t.state}</dt>
      <dd>
        <StatementBadge status={status} />
        <Text size="sm">
          {status === "closed" ? t.closed : t.open(asOf === null ? read : formatTime(new Date(asOf)))}
        </Text>
      </dd>
      <dt>{t.total}</dt>
      <dd>
        {totals.map(({ currency, total }) => (
          <div key={currency} className="figure">
            {formatMoney(total, currency)}
          </div>
        ))}
        {totals.length === 0 && texts.statements.nothing}
      </dd>
      <dt className="only-print">{t.generated}</dt>
      <dd className="only-print">{read}</dd>
    </dl>
  );
}

function Tools({ alias, month }: { alias: string; month: string }) {
  const queries = useQueryClient();
  const download = useMutation({ mutationFn: () => downloadCsv(queries, alias, month) });
  return (
    <Stack gap="xs" className="no-print">
      <Group gap="xs">
        <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
          {t.csv}
        </Button>
        <Button variant="default" onClick={() => window.print()}>
          {t.print}
        </Button>
      </Group>
      <Text size="sm" role="status">
        {download.data !== undefined && t.csvDone(download.data)}
      </Text>
      {download.error !== null && <ErrorNotice error={download.error} />}
    </Stack>
  );
}
