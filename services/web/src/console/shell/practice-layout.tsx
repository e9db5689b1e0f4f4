import { AppShell, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { useSession } from "../api/session.ts";
import { texts } from "../texts.ts";
import { Header } from "./header.tsx";
import { InstalledIcon, OverviewIcon, StatementsIcon, SubscriptionsIcon } from "./icons.tsx";
import { NavigationLink } from "./links.tsx";
import { NotMember } from "./not-member.tsx";
import { PracticeSwitcher } from "./practice-switcher.tsx";
import { RecordLinks } from "./record-links.tsx";

const t = texts.shell;
const route = getRouteApi("/practice/$alias");

/** The frame of a practice's screens: which practice, and where to go in it. */
export function PracticeLayout() {
  const { alias } = route.useParams();
  const { practices } = useSession();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  const isMember = practices.some((practice) => practice.alias === alias);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 248, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <AppShell.Header>
        <Header navigation={{ isOpen, toggle }} />
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.navigation}>
        <Stack gap="sm">
          <PracticeSwitcher alias={alias} practices={practices} />
          <div>
            <NavigationLink
              to="/practice/$alias"
              params={{ alias }}
              activeOptions={{ exact: true }}
              label={t.overview}
              leftSection={<OverviewIcon />}
            />
            <NavigationLink
              to="/practice/$alias/subscriptions"
              params={{ alias }}
              label={t.subscriptions}
              leftSection={<SubscriptionsIcon />}
            />
            <NavigationLink
              to="/practice/$alias/apps"
              params={{ alias }}
              label={t.installedApps}
              leftSection={<InstalledIcon />}
            />
            <NavigationLink
              to="/practice/$alias/statements"
              params={{ alias }}
              label={t.statements}
              leftSection={<StatementsIcon />}
            />
            {isMember && <RecordLinks alias={alias} />}
          </div>
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">{isMember ? <Outlet key={alias} /> : <NotMember alias={alias} />}</div>
      </AppShell.Main>
    </AppShell>
  );
}
