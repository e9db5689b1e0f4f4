import { Button } from "@mantine/core";
import { Navigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useSession } from "../api/session.ts";
import { announceSignIn } from "../api/sign-in-gate.ts";
import { EmptyNotice } from "../states/notices.tsx";
import { texts } from "../texts.ts";
import { findStartPractice } from "./last-practice.ts";
import { ButtonLink } from "./links.tsx";

/** Leads on to the practice that was opened last, or to the first one. */
export function StartPage() {
  const practice = findStartPractice(useSession().practices);
  if (practice !== undefined) return <Navigate to="/practice/$alias" params={{ alias: practice.alias }} replace />;
  return (
    <EmptyNotice level={1} title={texts.noPractice.title} text={texts.noPractice.text}>
      <Button component="a" href="/apps">
        {texts.shell.browse}
      </Button>
    </EmptyNotice>
  );
}

/** Where a sign-in in a new tab ends. The other tabs go on. */
export function SignedInPage() {
  useEffect(announceSignIn, []);
  return (
    <EmptyNotice level={1} title={texts.signIn.done} text={texts.signIn.doneText}>
      <ButtonLink to="/console" variant="default">
        {texts.signIn.toConsole}
      </ButtonLink>
    </EmptyNotice>
  );
}

export function NotFoundPage() {
  return (
    <EmptyNotice level={1} title={texts.notFound.title} text={texts.notFound.text}>
      <ButtonLink to="/console">{texts.notFound.toStart}</ButtonLink>
    </EmptyNotice>
  );
}
