import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Anchor, Group, Skeleton, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { formatMoney } from "../../storefront/format.ts";
import { estimateQuery, installationsQuery } from "../api/practice-queries.ts";
import { AppIcon } from "../app-icon.tsx";
import { describeTerms } from "../subscribe/terms.ts";
import { texts } from "../texts.ts";
import { describeConnection } from "./connection-text.ts";
import { NoLongerOffered } from "./no-longer-offered.tsx";
import { StateBadge } from "./state-badge.tsx";

const t = texts.subscriptions;

export interface SubscriptionTableProps {
  subscriptions: ListedSubscriptionDto[];
  alias: string;
  onOpen: (id: string) => void;
}

/** On a phone each row becomes a card, with the column's name beside each value. */
export function SubscriptionTable({ subscriptions, alias, onOpen }: SubscriptionTableProps) {
  return (
    <Table className="rows" verticalSpacing="xs" highlightOnHover>
      <Table.Caption className="hidden">{t.caption}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.columns.app}</Table.Th>
          <Table.Th scope="col">{t.columns.plan}</Table.Th>
          <Table.Th scope="col">{t.columns.state}</Table.Th>
          <Table.Th scope="col" className="amount">
            {t.columns.month}
          </Table.Th>
          <Table.Th scope="col">{t.columns.ehr}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {subscriptions.map((each) => (
          <Row key={each.id} subscription={each} alias={alias} onOpen={onOpen} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface RowProps {
  subscription: ListedSubscriptionDto;
  alias: string;
  onOpen: (id: string) => void;
}

function Row({ subscription, alias, onOpen }: RowProps) {
  const { id, app, appSlug, pricingPlan, quantity, status } = subscription;
  const name = app?.name ?? appSlug;
  return (
    <Table.Tr>
      <Table.Td data-label={t.columns.app}>
        <Group gap="sm" wrap="nowrap">
          <AppIcon url={app?.iconUrl} size={32} />
          <Anchor component="button" type="button" fw={600} ta="left" onClick={() => onOpen(id)} aria-haspopup="dialog">
            {name}
          </Anchor>
        </Group>
      </Table.Td>
      <Table.Td data-label={t.columns.plan}>
        <div className="entered">
          {pricingPlan.name}
          <Text size="xs" c="dimmed">
            {describeTerms(pricingPlan, quantity)}
          </Text>
        </div>
      </Table.Td>
      <Table.Td data-label={t.columns.state}>
        <div>
          <StateBadge {...subscription} />
          <NoLongerOffered {...subscription} />
          {subscription.pendingScopes !== "" && (
            <Text size="xs" className="attention">
              {texts.addedAccess.short}
            </Text>
          )}
        </div>
      </Table.Td>
      <Table.Td data-label={t.columns.month} className="amount">
        <SoFar alias={alias} id={id} />
      </Table.Td>
      <Table.Td data-label={t.columns.ehr}>
        {status === "active" && <InEhr alias={alias} subscriptionId={id} />}
        {status === "paused" && texts.connection.paused}
        {status === "cancelled" && texts.connection.none}
      </Table.Td>
    </Table.Tr>
  );
}

function SoFar({ alias, id }: { alias: string; id: string }) {
  const { data, error } = useQuery(estimateQuery(alias, id));
  if (data === undefined) return error === null ? <Skeleton height={16} width={64} ml="auto" /> : texts.connection.none;
  return formatMoney(data.total, data.currency);
}

/** One request for all rows. */
function InEhr({ alias, subscriptionId }: { alias: string; subscriptionId: string }) {
  const { data, error } = useQuery(installationsQuery(alias));
  if (data === undefined) return error === null ? <Skeleton height={16} width={96} /> : texts.connection.unknown;
  return describeConnection(data.find((installation) => installation.subscriptionId === subscriptionId)).text;
}
