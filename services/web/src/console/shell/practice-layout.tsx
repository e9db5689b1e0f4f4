import { AppShell, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { type Practice, useSession } from "../api/session.ts";
import { texts } from "../texts.ts";
import { Frame } from "./frame.tsx";
import { Header } from "./header.tsx";
import { InstalledIcon, OverviewIcon, StatementsIcon, SubscriptionsIcon } from "./icons.tsx";
import { rememberPractice } from "./last-practice.ts";
import { NavigationLink } from "./links.tsx";
import { NotMember } from "./not-member.tsx";
import { PracticeSwitcher } from "./practice-switcher.tsx";
import { RecordLinks } from "./record-links.tsx";

const t = texts.shell;
const route = getRouteApi("/practice/$alias");

/** The screens of a practice, for those who belong to it. */
export function PracticeLayout() {
  const { alias } = route.useParams();
  const { practices } = useSession();
  const practice = practices.find((each) => each.alias === alias);
  if (practice !== undefined) return <PracticeFrame practice={practice} practices={practices} />;
  return (
    <Frame>
      <NotMember alias={alias} />
    </Frame>
  );
}

interface PracticeFrameProps {
  practice: Practice;
  practices: Practice[];
}

/** The frame of a practice's screens: which practice, and where to go in it. */
function PracticeFrame({ practice, practices }: PracticeFrameProps) {
  const { alias } = practice;
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  useEffect(() => rememberPractice(alias), [alias]);
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
          <PracticeSwitcher current={practice} practices={practices} />
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
            <RecordLinks alias={alias} />
          </div>
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">
          <Outlet key={alias} />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}
