import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { getSession, isSamePerson, type Session, sessionQuery, signInPath } from "../api/session.ts";
import { onSignInElsewhere, settleSignIn, useIsSignInNeeded } from "../api/sign-in-gate.ts";
import { texts } from "../texts.ts";

const t = texts.sessionEnded;

/** Opens when the session has ended in the middle of something. The requests that wait go on after the sign-in, so nothing is lost. */
export function SessionEndedDialog() {
  const isNeeded = useIsSignInNeeded();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isNeeded) return undefined;
    const before = queries.getQueryData<Session>(sessionQuery.queryKey) ?? { signedIn: false };
    const check = async (): Promise<void> => {
      const session = await getSession().catch(() => undefined);
      if (session?.signedIn !== true) return;
      // What somebody has entered isn't sent by somebody else.
      if (!isSamePerson(before, session)) return location.reload();
      queries.setQueryData(sessionQuery.queryKey, session);
      settleSignIn(true);
    };
    const onFocus = (): void => void check();
    addEventListener("focus", onFocus);
    const stopListening = onSignInElsewhere(onFocus);
    return () => {
      removeEventListener("focus", onFocus);
      stopListening();
    };
  }, [isNeeded, queries]);
  return (
    <Modal
      opened={isNeeded}
      onClose={() => settleSignIn(false)}
      title={t.title}
      closeButtonProps={{ "aria-label": texts.close }}
      zIndex={1_000}
    >
      <Stack>
        <Text>{t.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => settleSignIn(false)}>
            {t.later}
          </Button>
          <Button component="a" href={signInPath("/console/signed-in")} target="_blank" rel="noopener" data-autofocus>
            {t.button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
