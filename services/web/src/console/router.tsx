import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import {
  readAuditSearch,
  readNoticesSearch,
  readPageSearch,
  readSubscribedSearch,
  readSubscribeSearch,
  readSubscriptionsSearch,
} from "./search-params.ts";
import { ConsoleRoot, PageSkeleton } from "./shell/console-root.tsx";
import { Frame } from "./shell/frame.tsx";
import { PracticeLayout } from "./shell/practice-layout.tsx";
import { NotFoundPage, SignedInPage, StartPage } from "./shell/start-pages.tsx";
import { isOfOldVersion, NewVersionNotice } from "./states/new-version.tsx";
import { ErrorNotice } from "./states/notices.tsx";

const root = createRootRoute({ component: ConsoleRoot });

const frame = createRoute({ getParentRoute: () => root, path: "/console", component: Frame });
const start = createRoute({ getParentRoute: () => frame, path: "/", component: StartPage });
const signedIn = createRoute({ getParentRoute: () => frame, path: "/signed-in", component: SignedInPage });
const subscribe = createRoute({
  getParentRoute: () => frame,
  path: "/subscribe/$slug",
  validateSearch: readSubscribeSearch,
  component: lazyRouteComponent(() => import("./subscribe/subscribe-page.tsx"), "SubscribePage"),
});
const subscribed = createRoute({
  getParentRoute: () => frame,
  path: "/subscribed/$slug",
  validateSearch: readSubscribedSearch,
  component: lazyRouteComponent(() => import("./subscribe/subscribed-page.tsx"), "SubscribedPage"),
});

/** Whatever has no screen, within the frame that it would have. */
const nowhere = createRoute({ getParentRoute: () => frame, path: "$", component: NotFoundPage });

const practice = createRoute({ getParentRoute: () => root, path: "/practice/$alias", component: PracticeLayout });
const overview = createRoute({
  getParentRoute: () => practice,
  path: "/",
  component: lazyRouteComponent(() => import("./overview/overview-page.tsx"), "OverviewPage"),
});
const subscriptions = createRoute({
  getParentRoute: () => practice,
  path: "/subscriptions",
  validateSearch: readSubscriptionsSearch,
  component: lazyRouteComponent(() => import("./subscriptions/subscriptions-page.tsx"), "SubscriptionsPage"),
});
const installedApps = createRoute({
  getParentRoute: () => practice,
  path: "/apps",
  component: lazyRouteComponent(() => import("./installed-apps/installed-apps-page.tsx"), "InstalledAppsPage"),
});
const settings = createRoute({
  getParentRoute: () => practice,
  path: "/apps/$slug",
  component: lazyRouteComponent(() => import("./installed-apps/settings-page.tsx"), "SettingsPage"),
});
const statements = createRoute({
  getParentRoute: () => practice,
  path: "/statements",
  validateSearch: readPageSearch,
  component: lazyRouteComponent(() => import("./statements/statements-page.tsx"), "StatementsPage"),
});
const statement = createRoute({
  getParentRoute: () => practice,
  path: "/statements/$month",
  component: lazyRouteComponent(() => import("./statements/statement-page.tsx"), "StatementPage"),
});
const launches = createRoute({
  getParentRoute: () => practice,
  path: "/apps/$slug/launches",
  validateSearch: readPageSearch,
  component: lazyRouteComponent(() => import("./installed-apps/launches-page.tsx"), "LaunchesPage"),
});
const notices = createRoute({
  getParentRoute: () => practice,
  path: "/notices",
  validateSearch: readNoticesSearch,
  component: lazyRouteComponent(() => import("./notices/notices-page.tsx"), "NoticesPage"),
});
const audit = createRoute({
  getParentRoute: () => practice,
  path: "/audit",
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import("./audit/audit-page.tsx"), "AuditPage"),
});

const nowhereInPractice = createRoute({ getParentRoute: () => practice, path: "$", component: NotFoundPage });

const routeTree = root.addChildren([
  frame.addChildren([start, signedIn, subscribe, subscribed, nowhere]),
  practice.addChildren([
    overview,
    subscriptions,
    installedApps,
    settings,
    launches,
    statements,
    statement,
    notices,
    audit,
    nowhereInPractice,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ({ error, reset }) =>
    isOfOldVersion(error) ? <NewVersionNotice /> : <ErrorNotice error={error} onRetry={reset} />,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
