import { Group, Stack, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { texts } from "../texts.ts";

export interface PageProps {
  title: string;
  /** Beside the title: the page's main action. */
  action?: ReactNode;
  children: ReactNode;
}

/** A screen: its title, which the browser's tab has too, and its content. */
export function Page({ title, action, children }: PageProps) {
  useEffect(() => {
    document.title = texts.title(title);
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="center" gap="sm">
        <Title order={1}>{title}</Title>
        {action}
      </Group>
      {children}
    </Stack>
  );
}
