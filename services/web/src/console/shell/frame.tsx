import { AppShell } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { Header } from "./header.tsx";

/** The frame of screens that belong to no practice yet, such as subscribing. */
export function Frame() {
  return (
    <AppShell header={{ height: 56 }} padding={{ base: "md", sm: "xl" }}>
      <AppShell.Header>
        <Header />
      </AppShell.Header>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}
