import { Group, Menu, Stack, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Practice } from "../api/session.ts";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";
import { SelectIcon } from "./icons.tsx";

const t = texts.shell;
const roleOf = ({ isAdmin }: Practice): string => (isAdmin ? t.admin : t.member);

function PracticeText({ practice }: { practice: Practice }) {
  return (
    <Stack gap={0} miw={0}>
      <Text fw={600} size="sm" truncate>
        {practiceName(practice.alias)}
      </Text>
      <Text size="xs" c="dimmed">
        {roleOf(practice)}
      </Text>
    </Stack>
  );
}

/** Names the practice. A person who belongs to several can switch to another one. */
export function PracticeSwitcher({ current, practices }: { current: Practice; practices: Practice[] }) {
  const navigate = useNavigate();
  if (practices.length < 2) {
    return (
      <div className="practice">
        <PracticeText practice={current} />
      </div>
    );
  }
  return (
    <Menu position="bottom-start" width="target" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton className="practice practice-button">
          <Group justify="space-between" wrap="nowrap">
            <PracticeText practice={current} />
            <VisuallyHidden>{t.switchPractice}</VisuallyHidden>
            <SelectIcon />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {practices.map((practice) => (
          <Menu.Item
            key={practice.alias}
            aria-current={practice.alias === current.alias}
            onClick={() => void navigate({ to: "/practice/$alias", params: { alias: practice.alias } })}
          >
            <PracticeText practice={practice} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
