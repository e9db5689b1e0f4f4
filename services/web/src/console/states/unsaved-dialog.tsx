import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { texts } from "../texts.ts";

const t = texts.unsaved;

/** Asks before what was entered is lost by leaving the screen. */
export function UnsavedDialog({ isEdited }: { isEdited: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isEdited,
    enableBeforeUnload: isEdited,
    withResolver: true,
  });
  return (
    <Modal
      opened={status === "blocked"}
      onClose={() => reset?.()}
      title={t.title}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <Stack>
        <Text>{t.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => proceed?.()}>
            {t.leave}
          </Button>
          <Button onClick={() => reset?.()} data-autofocus>
            {t.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
