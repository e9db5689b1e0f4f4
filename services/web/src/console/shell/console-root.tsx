import { AppShell, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { sessionQuery, signInPath } from "../api/session.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { Loading } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { Logo } from "./icons.tsx";
import { SessionChangedDialog } from "./session-changed-dialog.tsx";
import { SessionEndedDialog } from "./session-ended-dialog.tsx";

/** The outermost component: shows screens to who is signed in, and a sign-in page to others. */
export function ConsoleRoot() {
  const { data: session, error, refetch } = useQuery(sessionQuery);
  useFocusOnNavigation();
  if (session === undefined) {
    return <PlainPage>{error === null ? <PageSkeleton /> : <NoSession error={error} onRetry={refetch} />}</PlainPage>;
  }
  if (!session.signedIn) {
    return (
      <PlainPage>
        <SignIn />
      </PlainPage>
    );
  }
  return (
    <>
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <Outlet />
      <SessionEndedDialog />
      <SessionChangedDialog />
    </>
  );
}

/** Whether somebody is signed in isn't known, so that only the public pages can be shown. */
function NoSession({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <Stack>
      <Title order={1}>{texts.noSession}</Title>
      <ErrorNotice error={error} onRetry={onRetry} />
      <Group>
        <Button component="a" href="/apps" variant="default">
          {texts.shell.browse}
        </Button>
      </Group>
    </Stack>
  );
}

/** After a navigation the focus is on the new screen, not on the link that was followed, which may be gone. */
function useFocusOnNavigation(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const previous = useRef(path);
  useEffect(() => {
    if (previous.current !== undefined && previous.current !== path) {
      document.querySelector<HTMLElement>("#content")?.focus({ preventScroll: true });
    }
    previous.current = path;
  }, [path]);
}

function SignIn() {
  useEffect(() => {
    document.title = texts.title(texts.signIn.title);
  }, []);
  const { pathname, search } = location;
  return (
    <Stack>
      <Title order={1}>{texts.signIn.title}</Title>
      <Text c="dimmed">{texts.signIn.text}</Text>
      <Group>
        <Button component="a" href={signInPath(`${pathname}${search}`)}>
          {texts.signIn.button}
        </Button>
        <Button component="a" href="/apps" variant="default">
          {texts.signIn.browse}
        </Button>
      </Group>
    </Stack>
  );
}

/** A page without navigation. */
export function PlainPage({ children }: { children: ReactNode }) {
  return (
    <AppShell header={{ height: 56 }} padding="md">
      <AppShell.Header>
        <Group h="100%" px="md">
          <a className="logo" href="/">
            <Logo />
            <span>{texts.site}</span>
          </a>
        </Group>
      </AppShell.Header>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content narrow">{children}</div>
      </AppShell.Main>
    </AppShell>
  );
}

export function PageSkeleton() {
  return (
    <Loading>
      <Stack>
        <Skeleton height={36} width="40%" />
        <Skeleton height={20} width="70%" />
        <Skeleton height={160} />
      </Stack>
    </Loading>
  );
}
