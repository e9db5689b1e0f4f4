import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { dismissOtherPerson, useIsOtherPerson } from "../api/session-person.ts";
import { texts } from "../texts.ts";

const t = texts.sessionChanged;

/** Opens when a request was refused because somebody else has signed in in this browser. What was entered stays until the page is loaded anew. */
export function SessionChangedDialog() {
  return (
    <Modal
      opened={useIsOtherPerson()}
      onClose={dismissOtherPerson}
      title={t.title}
      closeButtonProps={{ "aria-label": texts.close }}
      zIndex={1_000}
    >
      <Stack>
        <Text>{t.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={dismissOtherPerson}>
            {t.later}
          </Button>
          <Button onClick={() => location.reload()} data-autofocus>
            {t.button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
