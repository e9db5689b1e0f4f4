import type { EstimateDto, SpendLimitDto } from "@ehr-marketplace/client/marketplace";
import { Radio, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { formatMoney, formatMonth, toMajorUnits, toMinorUnits } from "../../storefront/format.ts";
import { marketplace } from "../api/apis.ts";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";
import { type ActionDialogProps, ActionFrame } from "./action-dialogs.tsx";
import { useAction } from "./use-action.ts";

type OnReached = SpendLimitDto["onReached"];

const exampleAmount = 25_000;

export interface SpendLimitDialogProps extends Omit<ActionDialogProps, "isOpen" | "onDone"> {
  estimate: EstimateDto;
  /** With the limit that is set. */
  onDone: (amount: number) => void;
}

/** Sets or changes the limit, and says what happens at 80 % and at 100 % of what is entered. */
export function SpendLimitDialog({ alias, subscription, name, estimate, onClose, onDone }: SpendLimitDialogProps) {
  const t = texts.spendLimit.dialog;
  const { currency, month, spendLimit } = estimate;
  // A credit gives no room below the limit.
  const total = estimate.total + estimate.credited;
  const [entered, setEntered] = useState(spendLimit === null ? "" : toMajorUnits(spendLimit.amount, currency));
  const [onReached, setOnReached] = useState<OnReached>(spendLimit?.onReached ?? "notify");
  const amount = toMinorUnits(entered, currency) ?? 0;
  const isReached = amount > 0 && amount <= total;
  const isChanged = amount !== spendLimit?.amount || onReached !== spendLimit.onReached;
  const practice = practiceName(alias);
  const action = useAction({
    alias,
    // The dialog says what that means, beside the button.
    body: { amount, onReached, confirm: isReached },
    run: (body) => marketplace("PUT /subscriptions/{id}/spend-limit", { path: { id: subscription.id }, body }),
    onDone: () => onDone(amount),
  });
  return (
    <ActionFrame
      isOpen
      title={t.title(name)}
      button={isReached ? t.reachedButton : spendLimit === null ? t.setButton : t.changeButton}
      isDisabled={amount === 0 || !isChanged}
      action={action}
      onClose={onClose}
    >
      <Text>{t.text(name, practice)}</Text>
      <Text size="sm" c="dimmed">
        {t.soFar(formatMonth(month), formatMoney(total, currency))}
      </Text>
      <TextInput
        label={t.amount(currency)}
        value={entered}
        onChange={(event) => setEntered(event.currentTarget.value)}
        inputMode="decimal"
        maxLength={20}
        maw="20rem"
        data-autofocus
        error={entered !== "" && amount === 0 && t.invalid(toMajorUnits(exampleAmount, currency))}
      />
      <Radio.Group value={onReached} onChange={(value) => setOnReached(value)} label={t.at100}>
        <Stack gap="xs" mt="xs">
          <Radio value="notify" label={t.notify} description={t.notifyText} />
          <Radio value="pause" label={t.pause} description={t.pauseText(name, practice)} />
        </Stack>
      </Radio.Group>
      {isReached && (
        <Text role="status" fw={600}>
          {t.reached(formatMoney(total, currency), onReached === "pause" ? name : undefined)}
        </Text>
      )}
      {amount > 0 && <Consequences amount={formatMoney(amount, currency)} onReached={onReached} />}
    </ActionFrame>
  );
}

function Consequences({ amount, onReached }: { amount: string; onReached: OnReached }) {
  const t = texts.spendLimit.dialog;
  const what = [
    t.at80(amount),
    onReached === "pause" ? t.pauseAt100(amount) : t.notifyAt100(amount),
    ...(onReached === "pause" ? [t.late] : []),
    t.vendor,
  ];
  return (
    <div>
      <Text fw={600}>{t.what}</Text>
      <ul className="scopes">
        {what.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

export function RemoveLimitDialog({ alias, subscription, name, isOpen, onClose, onDone }: ActionDialogProps) {
  const t = texts.spendLimit.removeDialog;
  const hasUsage = subscription.pricingPlan.pricingModel === "USAGE";
  const action = useAction({
    alias,
    body: undefined,
    run: () => marketplace("DELETE /subscriptions/{id}/spend-limit", { path: { id: subscription.id } }),
    onDone,
  });
  return (
    <ActionFrame
      isOpen={isOpen}
      title={hasUsage ? t.restoreTitle(name) : t.title(name)}
      button={hasUsage ? t.restoreButton : t.button}
      keep={t.keep}
      color="danger"
      action={action}
      onClose={onClose}
    >
      <Text>{hasUsage ? t.restoreText(name) : t.text(name, practiceName(alias))}</Text>
      {subscription.pauseReason === "SPEND_LIMIT" && <Text>{t.paused}</Text>}
      <Text c="dimmed">{t.undo}</Text>
    </ActionFrame>
  );
}
