import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { texts } from "../texts.ts";
import { ChangedMeanwhileError } from "./changed-meanwhile.ts";
import { ErrorNotice } from "./notices.tsx";

const t = texts.changedMeanwhile;

export interface SaveErrorProps<T> {
  error: Error | null;
  /** Shows what is stored now, instead of what was entered. */
  onReload: (stored: T) => void;
  onOverwrite: () => void;
}

/** Why a form wasn't saved. If somebody else has saved meanwhile, the person decides whose entries count. */
export function SaveError<T>({ error, onReload, onOverwrite }: SaveErrorProps<T>) {
  if (error === null) return null;
  if (!(error instanceof ChangedMeanwhileError)) return <ErrorNotice error={error} />;
  return (
    <Alert color="warning" variant="light" role="alert" title={t.title} className="notice warning">
      <Stack gap="xs">
        <Text size="sm">{t.text}</Text>
        <Group gap="xs">
          <Button variant="default" size="sm" onClick={() => onReload(error.stored as T)}>
            {t.reload}
          </Button>
          <Button variant="default" size="sm" onClick={onOverwrite}>
            {t.overwrite}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
