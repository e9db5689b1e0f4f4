import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { ButtonLink } from "../shell/links.tsx";
import { texts } from "../texts.ts";
import { CancelDialog, PauseDialog, ResumeDialog } from "./action-dialogs.tsx";
import { ConsentDialog } from "./added-access.tsx";
import { isOwnPause } from "./pause-reasons.ts";
import { PlanDialog } from "./plan-dialog.tsx";

const t = texts.subscription;

type StateAction = "pause" | "resume" | "cancel" | "plan" | "consent";
export type Action = StateAction | "limit" | "remove-limit";

export interface SubscriptionActionsProps {
  alias: string;
  subscription: ListedSubscriptionDto;
  /** Whose dialog is open. */
  action: Action | undefined;
  setAction: (action: Action | undefined) => void;
}

/** What an admin can do with a subscription in its state. Each action is confirmed in a dialog that says what happens. */
export function SubscriptionActions({ alias, subscription, action: open, setAction }: SubscriptionActionsProps) {
  const [done, setDone] = useState<StateAction>();
  const { status, pauseReason, app, appSlug } = subscription;
  const result = useRef<HTMLDivElement>(null);
  // The button that opened the dialog may be gone with what it has done.
  useEffect(() => {
    if (done !== undefined && document.activeElement === document.body) result.current?.focus();
  }, [done, subscription]);
  const name = app?.name ?? appSlug;
  const dialog = (action: StateAction) => ({
    alias,
    subscription,
    name,
    isOpen: open === action,
    onClose: () => setAction(undefined),
    onDone: () => {
      setAction(undefined);
      setDone(action);
    },
  });
  return (
    <Stack gap="sm">
      <div role="status" ref={result} tabIndex={-1} className="results">
        {done !== undefined && (
          <Alert color="positive" variant="light" className="notice">
            {texts.done[done](name)}
          </Alert>
        )}
      </div>
      {status !== "cancelled" && (
        <Group gap="xs">
          <ButtonLink to="/practice/$alias/apps/$slug" params={{ alias, slug: appSlug }} variant="default">
            {t.settings}
          </ButtonLink>
          <Button variant="default" onClick={() => setAction("plan")}>
            {t.changePlan}
          </Button>
          {status === "active" && (
            <Button variant="default" onClick={() => setAction("pause")}>
              {t.pause}
            </Button>
          )}
          {status === "paused" && isOwnPause(pauseReason) && (
            <Button onClick={() => setAction("resume")}>{t.resume}</Button>
          )}
          <Button variant="outline" color="danger" onClick={() => setAction("cancel")}>
            {t.cancel}
          </Button>
        </Group>
      )}
      {status === "paused" && !isOwnPause(pauseReason) && (
        <Text size="sm" c="dimmed">
          {t.notYours[pauseReason]}
        </Text>
      )}
      <PlanDialog {...dialog("plan")} />
      <PauseDialog {...dialog("pause")} />
      <ResumeDialog {...dialog("resume")} />
      <CancelDialog {...dialog("cancel")} />
      <ConsentDialog {...dialog("consent")} />
    </Stack>
  );
}
