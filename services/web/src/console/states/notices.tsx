import { Alert, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { supportUrl } from "../support-url.ts";
import { texts } from "../texts.ts";
import { describeError } from "./describe-error.ts";

/** What went wrong, what to do, and a button that tries it again. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) {
  const { title, detail, advice, requestId } = describeError(error);
  return (
    <Alert color="danger" variant="light" role="alert" title={title} className="notice danger">
      <Stack gap="xs">
        {detail !== undefined && <Text size="sm">{detail}</Text>}
        <Text size="sm">{advice}</Text>
        {requestId !== undefined && (
          <Text size="sm">
            {texts.error.requestId}: <Code className="code">{requestId}</Code>
          </Text>
        )}
        <Group gap="xs">
          {onRetry !== undefined && (
            <Button variant="default" size="sm" onClick={() => void onRetry()}>
              {texts.error.retry}
            </Button>
          )}
          {supportUrl !== undefined && (
            <Button variant="default" size="sm" component="a" href={supportUrl} target="_blank">
              {texts.shell.help}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** Nothing is here yet, or nothing matches: says so, and what to do. */
export interface EmptyNoticeProps {
  title: string;
  text: string;
  /** 1 if it is the whole page. */
  level?: 1 | 2;
  children?: ReactNode;
}

export function EmptyNotice({ title, text, level = 2, children }: EmptyNoticeProps) {
  return (
    <Stack align="center" gap="sm" className="empty">
      <Title order={level} size="h2">
        {title}
      </Title>
      <Text c="dimmed" ta="center" maw="32rem">
        {text}
      </Text>
      {children}
    </Stack>
  );
}

/** Shown above data that couldn't be read anew. */
export function StaleNotice({ at, onRetry }: { at: number; onRetry: () => unknown }) {
  const minutes = Math.floor((Date.now() - at) / 60_000);
  return (
    <Alert color="warning" variant="light" role="status" className="notice warning">
      <Group justify="space-between">
        <Text size="sm">{texts.stale(texts.age(minutes))}</Text>
        <Button variant="default" size="sm" onClick={() => void onRetry()}>
          {texts.error.retry}
        </Button>
      </Group>
    </Alert>
  );
}
