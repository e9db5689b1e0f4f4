import { ActionIcon, Burger, Group, Menu, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { noteSignedIn } from "../../islands/signed-in.ts";
import { useSession } from "../api/session.ts";
import { supportUrl } from "../support-url.ts";
import { texts } from "../texts.ts";
import { Logo, PersonIcon, ThemeIcon } from "./icons.tsx";

const t = texts.shell;

export interface NavigationState {
  isOpen: boolean;
  toggle: () => void;
}

/** The bar at the top of every screen. On a phone, it opens the navigation, if the screen has one. */
export function Header({ navigation }: { navigation?: NavigationState | undefined }) {
  return (
    <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
      <Group gap="xs" wrap="nowrap">
        {navigation !== undefined && (
          <Burger
            opened={navigation.isOpen}
            onClick={navigation.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-expanded={navigation.isOpen}
            aria-label={navigation.isOpen ? t.closeNavigation : t.openNavigation}
          />
        )}
        <a className="logo" href="/">
          <Logo />
          <span>{texts.site}</span>
        </a>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <ThemeSwitch />
        <AccountMenu />
      </Group>
    </Group>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme() === "dark";
  return (
    <ActionIcon
      variant="subtle"
      color="muted"
      size="lg"
      aria-label={t.darkTheme}
      aria-pressed={isDark}
      onClick={() => setColorScheme(isDark ? "light" : "dark")}
    >
      <ThemeIcon />
    </ActionIcon>
  );
}

/** Signing out is a form: it ends the session here, and goes on to the identity provider. */
function AccountMenu() {
  const { name } = useSession();
  const signOut = (everywhere: boolean): void => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/logout";
    if (everywhere) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "everywhere", value: "true" });
      form.append(field);
    }
    document.body.append(form);
    noteSignedIn(false);
    form.submit();
  };
  return (
    <Menu position="bottom-end" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="muted" size="lg" aria-label={t.account(name ?? t.someone)}>
          <PersonIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{name ?? t.someone}</Menu.Label>
        <Menu.Item component="a" href="/apps">
          {t.browse}
        </Menu.Item>
        {supportUrl !== undefined && (
          <Menu.Item component="a" href={supportUrl} target="_blank">
            {t.help}
          </Menu.Item>
        )}
        <Menu.Item onClick={() => signOut(false)}>{t.signOut}</Menu.Item>
        <Menu.Item onClick={() => signOut(true)}>{t.signOutEverywhere}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
