import type { EstimateDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatMoney, formatMonth } from "../../storefront/format.ts";
import { estimateQuery } from "../api/practice-queries.ts";
import { texts } from "../texts.ts";
import { RemoveLimitDialog, SpendLimitDialog } from "./spend-limit-dialogs.tsx";
import type { SubscriptionActionsProps } from "./subscription-actions.tsx";

const t = texts.spendLimit;

export interface SpendLimitProps extends SubscriptionActionsProps {
  isAdmin: boolean;
}

/** The limit of a subscription and what is spent of it: the estimate has both. Admins set, change and remove it. */
export function SpendLimit({ isAdmin, action, setAction, ...of }: SpendLimitProps) {
  const { alias, subscription } = of;
  const { data: estimate } = useQuery(estimateQuery(alias, subscription.id));
  const [done, setDone] = useState<string>();
  if (estimate === undefined) return null;
  const { status, pauseReason, app, appSlug } = subscription;
  const { spendLimit, currency } = estimate;
  const hasUsage = subscription.pricingPlan.pricingModel === "USAGE";
  const isCancelled = status === "cancelled";
  if (isCancelled && spendLimit === null) return null;
  const name = app?.name ?? appSlug;
  const close = (): void => setAction(undefined);
  /** With the new limit, unless it is the default, which isn't known here. */
  const finish = (text: string, amount?: number): void => {
    close();
    const { leastLimit } = estimate;
    const isEnough = !leastLimit || (amount !== undefined && amount >= leastLimit);
    const next = isEnough ? t.thenResume : t.stillTooLow(formatMoney(leastLimit, currency));
    setDone(pauseReason === "SPEND_LIMIT" ? `${text} ${next}` : text);
  };
  return (
    <Stack gap="sm">
      <Title order={2}>{t.title}</Title>
      {spendLimit === null ? <Text>{t.none}</Text> : <LimitFacts estimate={estimate} limit={spendLimit} />}
      <div role="status">
        {done !== undefined && (
          <Alert color="positive" variant="light" className="notice">
            {done}
          </Alert>
        )}
      </div>
      {isAdmin && !isCancelled && (
        <Group gap="xs">
          <Button variant="default" onClick={() => setAction("limit")}>
            {spendLimit === null ? t.set : t.change}
          </Button>
          {spendLimit !== null && !spendLimit.isDefault && (
            <Button variant="default" onClick={() => setAction("remove-limit")}>
              {hasUsage ? t.restore : t.remove}
            </Button>
          )}
        </Group>
      )}
      {action === "limit" && (
        <SpendLimitDialog
          {...of}
          name={name}
          estimate={estimate}
          onClose={close}
          onDone={(amount) => finish(t.done.set(formatMoney(amount, currency)), amount)}
        />
      )}
      <RemoveLimitDialog
        {...of}
        name={name}
        isOpen={action === "remove-limit"}
        onClose={close}
        onDone={() => finish(hasUsage ? t.done.restored : t.done.removed)}
      />
    </Stack>
  );
}

type Limit = NonNullable<EstimateDto["spendLimit"]>;

/** A credit gives no room below the limit. */
const spentOf = ({ total, credited }: EstimateDto): number => total + credited;

function LimitFacts({ estimate, limit }: { estimate: EstimateDto; limit: Limit }) {
  const { month } = estimate;
  const spent = spentOf(estimate);
  const { amount, currency, onReached, isDefault } = limit;
  return (
    <>
      <dl className="facts">
        <dt>{t.limit}</dt>
        <dd>
          {formatMoney(amount, currency)}
          {isDefault && (
            <Text size="sm" c="dimmed">
              {t.isDefault}
            </Text>
          )}
        </dd>
        <dt>{t.spent}</dt>
        <dd>
          {t.of(formatMoney(spent, currency), formatMoney(amount, currency))}
          <Text size="sm" c="dimmed">
            {formatMonth(month)}
          </Text>
        </dd>
        <dt>{t.reached}</dt>
        <dd>{t[onReached]}</dd>
      </dl>
      <meter className="spent" min={0} max={amount} value={spent} aria-label={t.meter} />
    </>
  );
}

/** Says why the app doesn't work, and what to do, if it is paused for its limit. */
export function SpendLimitPause({
  alias,
  subscription,
  isAdmin,
}: Pick<SpendLimitProps, "alias" | "subscription" | "isAdmin">) {
  const isPaused = subscription.pauseReason === "SPEND_LIMIT";
  const { data: estimate } = useQuery({ ...estimateQuery(alias, subscription.id), enabled: isPaused });
  if (!isPaused) return null;
  const { app, appSlug } = subscription;
  const spendLimit = estimate?.spendLimit ?? null;
  const least = estimate?.leastLimit ? formatMoney(estimate.leastLimit, estimate.currency) : undefined;
  return (
    <Alert color="warning" variant="light" className="notice warning" title={t.paused.title(app?.name ?? appSlug)}>
      <Stack gap="xs">
        <Text size="sm">{t.paused.text}</Text>
        {estimate !== undefined && spendLimit !== null && (
          <Text size="sm">
            {t.paused.amounts(
              formatMonth(estimate.month),
              formatMoney(spentOf(estimate), estimate.currency),
              formatMoney(spendLimit.amount, spendLimit.currency),
            )}
          </Text>
        )}
        <Text size="sm">{isAdmin ? t.paused.admin(least) : t.paused.member}</Text>
      </Stack>
    </Alert>
  );
}
