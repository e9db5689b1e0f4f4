import { openConsole } from "@ehr-marketplace/tests/support/console";
import type { RunningWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Person, password } from "./web-realm.ts";

export interface SessionBody {
  signedIn: boolean;
  person?: string;
  practices?: unknown;
  vendors?: unknown;
  roles?: unknown;
  endsAt?: unknown;
}

interface CallOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: object;
}

/** A real browser of one person, with cookies of its own. */
export interface BrowserOfPerson {
  page: Page;
  context: BrowserContext;
  /** What must not happen: errors of scripts, and violations of the Content-Security-Policy. */
  mistakes: string[];
  /** Signs in with Keycloak's forms, and waits until the browser is back. */
  signIn(returnTo?: string): Promise<void>;
  /** As a script of our own pages. */
  call(path: string, options?: CallOptions): Promise<{ status: number; body: unknown }>;
  session(): Promise<SessionBody>;
  /** Chooses it in the console's menu, and waits until Keycloak has returned to the start page. */
  signOut(options?: { everywhere: boolean }): Promise<void>;
  /** What came from our origin and what is stored for it, by name. */
  everythingSeen(): Promise<{ what: string; text: string }[]>;
  close(): Promise<void>;
}

/** Fills in Keycloak's forms, which are open: a realm with organisations asks for the username first. */
export async function fillSignIn(page: Page, username: string): Promise<void> {
  await page.locator("#username").fill(username);
  await page.locator("#kc-login").click();
  await page.locator("#password").fill(password);
  await page.locator("#kc-login").click();
}

export async function openBrowserOf(
  chromium: Browser,
  web: RunningWeb,
  { username }: Person,
): Promise<BrowserOfPerson> {
  const { page, context, mistakes } = await openConsole(chromium, { webUrl: web.url });
  const responses: Promise<{ what: string; text: string }>[] = [];
  page.on("response", (response) => {
    if (!response.url().startsWith(`${web.url}/`)) return;
    const read = async (): Promise<{ what: string; text: string }> => {
      // A redirect has no body, and not all of a page that was left or closed can be read any more.
      const headers = JSON.stringify(await response.allHeaders().catch(() => response.headers()));
      const body = await response.text().catch(() => "");
      return { what: `the response of ${response.url()}`, text: `${response.url()} ${headers} ${body}` };
    };
    responses.push(read());
  });
  await page.goto("/apps");

  const call: BrowserOfPerson["call"] = (path, { method = "GET", headers = {}, body } = {}) =>
    page.evaluate(
      async ([target, request]) => {
        const response = await fetch(target, request);
        return { status: response.status, body: await response.json() };
      },
      [
        path,
        {
          method,
          headers: {
            "x-requested-with": "ehr-marketplace",
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
      ] as const,
    );

  return {
    page,
    context,
    mistakes,
    call,
    async signIn(returnTo = "/apps") {
      await page.goto(`/login?${new URLSearchParams({ returnTo }).toString()}`);
      await fillSignIn(page, username);
      await page.waitForURL(`${web.url}${returnTo}`);
    },
    session: async () => (await call("/bff/session")).body as SessionBody,
    async signOut({ everywhere } = { everywhere: false }) {
      await page.goto("/console");
      await page.getByRole("button", { name: /^Account of/ }).click();
      const name = everywhere ? "Sign out in all browsers" : "Sign out";
      await page.getByRole("menuitem", { name, exact: true }).click();
      await page.waitForURL(`${web.url}/`);
    },
    async everythingSeen() {
      const stored = await page.evaluate<string>("JSON.stringify({ ...localStorage, ...sessionStorage })");
      const cookies = await context.cookies(`${web.url}/bff/session`);
      const current = [
        { what: "the page", text: await page.content() },
        { what: "the storage", text: stored },
        { what: "the cookies", text: JSON.stringify(cookies) },
      ];
      return [...current, ...(await Promise.all(responses))];
    },
    close: () => context.close(),
  };
}
