import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Anchor, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { formatDate, formatMoney, formatMonth, formatTime } from "../../storefront/format.ts";
import { AccessList } from "../access-list.tsx";
import { estimateQuery } from "../api/practice-queries.ts";
import { auditQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { TextLink } from "../shell/links.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { MonthTable } from "../subscribe/quote-view.tsx";
import { describeTerms } from "../subscribe/terms.ts";
import { texts } from "../texts.ts";
import { AddedAccess } from "./added-access.tsx";
import { ConnectionOf } from "./connection-view.tsx";
import { type HistoryEntry, readDates, readHistory } from "./history.ts";
import { NoLongerOffered } from "./no-longer-offered.tsx";
import { SpendLimit, SpendLimitPause } from "./spend-limit.tsx";
import { StateBadge } from "./state-badge.tsx";
import { type Action, SubscriptionActions, type SubscriptionActionsProps } from "./subscription-actions.tsx";

const t = texts.subscription;

export interface SubscriptionDrawerProps {
  alias: string;
  subscription: ListedSubscriptionDto | undefined;
  onClose: () => void;
}

/** The details of a subscription, beside the list. */
export function SubscriptionDrawer({ alias, subscription, onClose }: SubscriptionDrawerProps) {
  // While the drawer closes, it still shows what it had.
  const last = useRef(subscription);
  if (subscription !== undefined) last.current = subscription;
  const shown = last.current;
  const [action, setAction] = useState<Action>();
  // Back, forward and links change what is shown while a dialog is open: it was about the other subscription.
  const [openId, setOpenId] = useState(subscription?.id);
  if (openId !== subscription?.id) {
    setOpenId(subscription?.id);
    setAction(undefined);
  }
  return (
    <Drawer
      opened={subscription !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={shown?.app?.name ?? shown?.appSlug}
      closeButtonProps={{ "aria-label": texts.close }}
      // While a dialog is open on top of it, Escape and Tab belong to that.
      closeOnEscape={action === undefined}
      trapFocus={action === undefined}
    >
      {shown !== undefined && (
        <Details key={shown.id} alias={alias} subscription={shown} action={action} setAction={setAction} />
      )}
    </Drawer>
  );
}

function Details(props: SubscriptionActionsProps) {
  const { alias, subscription } = props;
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  const { appSlug, fhirScopes } = subscription;
  return (
    <Stack gap="lg">
      <AddedAccess subscription={subscription} isAdmin={isAdmin} onReview={() => props.setAction("consent")} />
      <Facts alias={alias} subscription={subscription} />
      <SpendLimitPause alias={alias} subscription={subscription} isAdmin={isAdmin} />
      {isAdmin ? <SubscriptionActions {...props} /> : <Text c="dimmed">{texts.memberNote}</Text>}
      <Costs alias={alias} id={subscription.id} />
      <SpendLimit {...props} isAdmin={isAdmin} />
      <Stack gap="sm">
        <Title order={2}>{t.history}</Title>
        {isAdmin ? (
          <AuditedHistory alias={alias} subscription={subscription} />
        ) : (
          <>
            <HistoryList entries={readDates(subscription)} />
            <Text size="sm" c="dimmed">
              {t.historyMember}
            </Text>
          </>
        )}
      </Stack>
      <Stack gap="sm">
        <Title order={2}>{t.access}</Title>
        <AccessList fhirScopes={fhirScopes} purposes={{}} />
      </Stack>
      {subscription.app && subscription.isOffered !== false && (
        <Anchor href={`/apps/${encodeURIComponent(appSlug)}`}>{t.appPage}</Anchor>
      )}
    </Stack>
  );
}

function Facts({ alias, subscription }: { alias: string; subscription: ListedSubscriptionDto }) {
  const { pricingPlan, quantity, status, createdAt, cancelledAt, id } = subscription;
  return (
    <dl className="facts">
      <dt>{t.practice}</dt>
      <dd>{practiceName(alias)}</dd>
      <dt>{t.state}</dt>
      <dd>
        <StateBadge {...subscription} />
        <NoLongerOffered {...subscription} />
      </dd>
      <dt>{t.plan}</dt>
      <dd>{pricingPlan.name}</dd>
      <dt>{t.price}</dt>
      <dd>{describeTerms(pricingPlan, quantity)}</dd>
      <dt>{t.since}</dt>
      <dd>{formatDate(createdAt)}</dd>
      {cancelledAt !== null && (
        <>
          <dt>{t.ended}</dt>
          <dd>{formatDate(cancelledAt)}</dd>
        </>
      )}
      {status !== "cancelled" && (
        <>
          <dt>{t.inEhr}</dt>
          <dd>{status === "paused" ? texts.connection.paused : <ConnectionOf alias={alias} subscriptionId={id} />}</dd>
        </>
      )}
      <dt>{t.id}</dt>
      <dd>
        <code>{id}</code>
      </dd>
    </dl>
  );
}

function Costs({ alias, id }: { alias: string; id: string }) {
  const estimate = useQuery(estimateQuery(alias, id));
  return (
    <QueryView query={estimate} skeleton={<RowsSkeleton rows={3} />}>
      {(data) => (
        <Stack gap="xs">
          <Title order={2}>{t.costs(formatMonth(data.month))}</Title>
          <MonthTable caption={t.soFar} month={data} currency={data.currency} />
          <Group justify="space-between">
            <Text>{t.projected}</Text>
            <Text className="amount">{formatMoney(data.projectedTotal, data.currency)}</Text>
          </Group>
        </Stack>
      )}
    </QueryView>
  );
}

function AuditedHistory({ alias, subscription }: { alias: string; subscription: ListedSubscriptionDto }) {
  const { id } = subscription;
  const audit = useQuery(auditQuery(alias, { targetId: id }));
  return (
    <QueryView query={audit} skeleton={<RowsSkeleton rows={3} />}>
      {({ items }) => (
        <>
          <HistoryList entries={readHistory(items)} />
          <TextLink to="/practice/$alias/audit" params={{ alias }} search={{ target: id }} size="sm">
            {texts.audit.inLog}
          </TextLink>
        </>
      )}
    </QueryView>
  );
}

function HistoryList({ entries }: { entries: HistoryEntry[] }) {
  return (
    <ol className="history">
      {entries.map(({ key, at, text, actor }) => (
        <li key={key}>
          <Text fw={600}>{text}</Text>
          <Text size="sm" c="dimmed">
            <time dateTime={at}>{formatTime(new Date(at))}</time>
            {actor !== undefined && ` ${t.by(actor)}`}
          </Text>
        </li>
      ))}
    </ol>
  );
}
