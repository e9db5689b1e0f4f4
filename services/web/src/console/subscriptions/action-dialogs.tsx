import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { marketplace } from "../api/apis.ts";
import { estimateQuery } from "../api/practice-queries.ts";
import { practiceName } from "../practice-name.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { texts } from "../texts.ts";
import { describeFinality, describeLastCosts } from "./describe-cancel.ts";
import { hasFixedPrice, keptDays, startOfDay } from "./kept-days.ts";
import { useAction } from "./use-action.ts";
import { useFormatTime } from "./use-format-time.ts";

export interface ActionDialogProps {
  alias: string;
  subscription: ListedSubscriptionDto;
  /** Of the app. */
  name: string;
  isOpen: boolean;
  onClose: () => void;
  onDone: () => void;
}

export interface ActionFrameProps {
  isOpen: boolean;
  title: string;
  /** The verb of the action. */
  button: string;
  /** The words of the button that closes the dialog. */
  keep?: string;
  color?: string;
  isDisabled?: boolean;
  action: { isPending: boolean; error: unknown; mutate: () => void; reset: () => void };
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that says what an action does and to whom, and whose button is the action's verb. */
export function ActionFrame(props: ActionFrameProps) {
  const {
    isOpen,
    title,
    button,
    keep = texts.back,
    color = "accent",
    isDisabled = false,
    action,
    onClose,
    children,
  } = props;
  // What was refused once isn't said when the dialog is opened for another attempt.
  const close = (): void => {
    action.reset();
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={{ "aria-label": texts.close }}>
      <Stack>
        {children}
        {action.error !== null && <ErrorNotice error={action.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {keep}
          </Button>
          <Button color={color} loading={action.isPending} disabled={isDisabled} onClick={() => action.mutate()}>
            {button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function PauseDialog({ alias, subscription, name, isOpen, onClose, onDone }: ActionDialogProps) {
  const t = texts.pauseDialog;
  const formatTime = useFormatTime(alias);
  const { id } = subscription;
  const action = useAction({
    alias,
    body: { reason: "ORG_REQUEST" } as const,
    run: (body, headers) => marketplace("POST /subscriptions/{id}/pause", { path: { id }, body, headers }),
    onDone,
  });
  return (
    <ActionFrame isOpen={isOpen} title={t.title(name)} button={t.button} action={action} onClose={onClose}>
      <Text>{t.text(name, practiceName(alias))}</Text>
      <Text>{t.stays}</Text>
      {hasFixedPrice(subscription, new Date()) && <Text>{t.costs(formatTime(startOfDay(new Date(), keptDays)))}</Text>}
      <Text c="dimmed">
        {t.reason}: {t.reasonText}
      </Text>
    </ActionFrame>
  );
}

export function ResumeDialog({ alias, subscription: { id }, name, isOpen, onClose, onDone }: ActionDialogProps) {
  const t = texts.resumeDialog;
  const formatTime = useFormatTime(alias);
  const action = useAction({
    alias,
    body: undefined,
    run: (_none, headers) => marketplace("POST /subscriptions/{id}/resume", { path: { id }, headers }),
    onDone,
  });
  return (
    <ActionFrame isOpen={isOpen} title={t.title(name)} button={t.button} action={action} onClose={onClose}>
      <Text>{t.text(name, practiceName(alias))}</Text>
      <Text>{t.costs(formatTime(startOfDay(new Date())))}</Text>
    </ActionFrame>
  );
}

export function CancelDialog({ alias, subscription, name, isOpen, onClose, onDone }: ActionDialogProps) {
  const t = texts.cancelDialog;
  const { id } = subscription;
  const estimate = useQuery({ ...estimateQuery(alias, id), enabled: isOpen });
  const action = useAction({
    alias,
    body: undefined,
    run: (_none, headers) => marketplace("POST /subscriptions/{id}/cancel", { path: { id }, headers }),
    onDone,
  });
  return (
    <ActionFrame
      isOpen={isOpen}
      title={t.title(name)}
      button={t.button}
      keep={t.keep}
      color="danger"
      action={action}
      onClose={onClose}
    >
      <Text>{t.text(name, practiceName(alias))}</Text>
      {describeLastCosts(subscription, estimate, new Date()).map((text) => (
        <Text key={text}>{text}</Text>
      ))}
      <Text>{t.settings}</Text>
      <Text>{describeFinality(subscription)}</Text>
    </ActionFrame>
  );
}
