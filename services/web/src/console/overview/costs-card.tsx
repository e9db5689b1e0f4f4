import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Stack, Table, Text, Title } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { formatMoney, formatMonth, formatTime } from "../../storefront/format.ts";
import { estimateQuery, statementQuery, subscriptionsQuery } from "../api/practice-queries.ts";
import { TextLink } from "../shell/links.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { divideApps, maxSummed, type SummedCosts, sumCosts } from "./sum-costs.ts";

const t = texts.monthCosts;

/** The totals are those of the month's statement, which is calculated by the marketplace. */
export function CostsCard({ alias }: { alias: string }) {
  const month = new Date().toISOString().slice(0, 7);
  const statement = useQuery(statementQuery(alias, month));
  return (
    <section className="card" aria-labelledby="costs">
      <Stack gap="xs">
        <Title order={2} id="costs">
          {texts.overview.month(formatMonth(month))}
        </Title>
        <QueryView query={statement} skeleton={<RowsSkeleton rows={2} />}>
          {({ totals, asOf }) => (
            <>
              {totals.map(({ currency, total }) => (
                <Text key={currency} className="figure">
                  {formatMoney(total, currency)}
                </Text>
              ))}
              {totals.length === 0 && <Text>{texts.overview.notCharged}</Text>}
              {asOf !== null && (
                <Text size="sm" c="dimmed">
                  {(totals.length === 0 ? texts.overview.asOf : texts.overview.chargedUntil)(
                    formatTime(new Date(asOf)),
                  )}
                </Text>
              )}
            </>
          )}
        </QueryView>
        <CostsByApp alias={alias} />
        <TextLink to="/practice/$alias/statements/$month" params={{ alias, month }} size="sm">
          {t.statement}
        </TextLink>
      </Stack>
    </section>
  );
}

/** The API projects the month of each app, not that of the practice. */
function CostsByApp({ alias }: { alias: string }) {
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery(alias));
  const live = subscriptions.filter(({ status }) => status !== "cancelled");
  const { shown, others } = divideApps(live);
  if (live.length === 0) return null;
  return (
    <Table verticalSpacing={6} horizontalSpacing={0} className="by-app">
      <Table.Caption className="hidden">{t.caption}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.app}</Table.Th>
          <Table.Th scope="col" className="amount">
            {t.soFar}
          </Table.Th>
          <Table.Th scope="col" className="amount">
            {t.projected}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {shown.map((subscription) => (
          <AppCosts key={subscription.id} alias={alias} subscription={subscription} />
        ))}
        {others.length > 0 && <OtherCosts alias={alias} subscriptions={others} />}
      </Table.Tbody>
    </Table>
  );
}

function AppCosts({ alias, subscription }: { alias: string; subscription: ListedSubscriptionDto }) {
  const { data } = useQuery(estimateQuery(alias, subscription.id));
  const { app, appSlug } = subscription;
  return (
    <Table.Tr>
      <Table.Td>{app?.name ?? appSlug}</Table.Td>
      <Table.Td className="amount">{data === undefined ? t.unknown : formatMoney(data.total, data.currency)}</Table.Td>
      <Table.Td className="amount">
        {data === undefined ? t.unknown : formatMoney(data.projectedTotal, data.currency)}
      </Table.Td>
    </Table.Tr>
  );
}

/** The rest in one row. Each is in the list of subscriptions, where the row leads to. */
function OtherCosts({ alias, subscriptions }: { alias: string; subscriptions: ListedSubscriptionDto[] }) {
  const isSummed = subscriptions.length <= maxSummed;
  const sum = useQueries({
    queries: (isSummed ? subscriptions : []).map(({ id }) => estimateQuery(alias, id)),
    combine: (results) => sumCosts(results.map(({ data }) => data)),
  });
  const costs = isSummed ? sum : undefined;
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/practice/$alias/subscriptions" params={{ alias }} inherit>
          {t.others(subscriptions.length)}
        </TextLink>
      </Table.Td>
      <Amounts amounts={costs?.soFar} />
      <Amounts amounts={costs?.projected} />
    </Table.Tr>
  );
}

const Amounts = ({ amounts = [t.unknown] }: { amounts: SummedCosts["soFar"] | undefined }) => (
  <Table.Td className="amount">
    {amounts.map((amount) => (
      <div key={amount}>{amount}</div>
    ))}
  </Table.Td>
);
