import { AppShell } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Header } from "./header.tsx";

/** The frame of screens that belong to none of the person's practices, such as subscribing. */
export function Frame({ children = <Outlet /> }: { children?: ReactNode }) {
  return (
    <AppShell header={{ height: 56 }} padding={{ base: "md", sm: "xl" }}>
      <AppShell.Header>
        <Header />
      </AppShell.Header>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">{children}</div>
      </AppShell.Main>
    </AppShell>
  );
}
