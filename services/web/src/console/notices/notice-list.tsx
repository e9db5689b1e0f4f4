import type { NoticeDto } from "@ehr-marketplace/client/marketplace";
import { Badge, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { formatTime } from "../../storefront/format.ts";
import { TextLink } from "../shell/links.tsx";
import { texts } from "../texts.ts";
import { describeNotice } from "./describe-notice.ts";

const t = texts.notices;
const severityColors = { info: "muted", warning: "warning", critical: "danger" };

export interface NoticeListProps {
  alias: string;
  items: NoticeDto[];
  /** What can be done with a notice. */
  actions?: (notice: NoticeDto) => ReactNode;
}

export function NoticeList({ alias, items, actions }: NoticeListProps) {
  return (
    <ul className="plain notices" aria-label={t.listLabel}>
      {items.map((notice) => (
        <li key={notice.id}>
          <Notice alias={alias} notice={notice}>
            {actions?.(notice)}
          </Notice>
        </li>
      ))}
    </ul>
  );
}

function Notice({ alias, notice, children }: { alias: string; notice: NoticeDto; children: ReactNode }) {
  const { severity, createdAt, readAt } = notice;
  const { subject, text, subscriptionId, goTo } = describeNotice(notice);
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Badge color={severityColors[severity]} variant="light">
          {texts.severities[severity]}
        </Badge>
        <Text size="xs" c="dimmed">
          <time dateTime={createdAt}>{formatTime(new Date(createdAt))}</time>
        </Text>
        {readAt !== null && (
          <Text size="xs" c="dimmed">
            {t.readAt(formatTime(new Date(readAt)))}
          </Text>
        )}
      </Group>
      <Text fw={readAt === null ? 600 : 400}>
        {subject}
        {readAt === null && <span className="hidden"> ({t.unread})</span>}
      </Text>
      <Text size="sm" maw="42rem">
        {text}
      </Text>
      <Group gap="md">
        {subscriptionId !== undefined && (
          <TextLink
            to="/practice/$alias/subscriptions"
            params={{ alias }}
            search={{ open: subscriptionId }}
            size="sm"
            aria-label={`${goTo}: ${subject}`}
          >
            {goTo}
          </TextLink>
        )}
        {children}
      </Group>
    </Stack>
  );
}
