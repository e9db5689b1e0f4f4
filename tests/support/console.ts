import assert from "node:assert/strict";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { eventually } from "@ehr-marketplace/test-kit";
import type { Browser, BrowserContext, BrowserContextOptions, Cookie, Locator, Page } from "playwright-core";
import { assertAccessible } from "./assert-accessible.ts";
import type { Stack } from "./stack.ts";

const patienceMs = 120_000;
const maxTabs = 80;

export interface OpenedConsole {
  page: Page;
  context: BrowserContext;
  /** What must not happen: errors of scripts, and violations of the Content-Security-Policy. */
  mistakes: string[];
}

/** Opens a page of the local stack that records mistakes. */
export async function openConsole(
  browser: Browser,
  { webUrl }: Pick<Stack, "webUrl">,
  options: BrowserContextOptions = {},
): Promise<OpenedConsole> {
  const context = await browser.newContext({ baseURL: webUrl, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(patienceMs);
  const mistakes: string[] = [];
  const watch = (page: Page): void => {
    page.on("pageerror", (error) => mistakes.push(`error: ${error.message}`));
    page.on("console", (message) => {
      // The browser logs responses that a test expects: of an ended session, of what isn't installed yet, and of an outage.
      const isExpected = /status of (401|404|503)/.test(message.text());
      if (message.type() === "error" && !isExpected) mistakes.push(message.text());
    });
  };
  context.on("page", watch);
  const page = await context.newPage();
  return { page, context, mistakes };
}

/** Chooses a persona at the identity provider, whose page is open. */
export async function choosePersona(page: Page, persona: string): Promise<void> {
  await page.getByRole("heading", { name: "Who are you today?" }).waitFor();
  await page.locator(`button[value="${persona}"]`).click();
}

/** Opens a page of the console, and signs in there. */
export async function signInAs(page: Page, persona: Persona, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("link", { name: "Sign in", exact: true }).click();
  await choosePersona(page, persona);
  await page.waitForURL(`**${path}**`);
}

const sessions = new Map<string, Cookie[]>();

/** Opens a page of the console with the session that the persona already has in a browser, if any: fewer sign-ins make tests faster. */
export async function openAs(
  page: Page,
  persona: Persona,
  path: string,
  { webUrl }: Pick<Stack, "webUrl">,
): Promise<void> {
  const key = `${persona} ${webUrl}`;
  const cookies = sessions.get(key);
  if (cookies !== undefined) {
    await page.context().addCookies(cookies);
    await page.goto(path);
    return;
  }
  await signInAs(page, persona, path);
  sessions.set(key, await page.context().cookies(webUrl));
}

/** As if the person came back to the tab, whereupon the console refetches stale data. */
export const refocus = (page: Page): Promise<void> =>
  page.evaluate('void window.dispatchEvent(new Event("visibilitychange"))');

const unavailable = {
  type: "/problems/upstream-unavailable",
  title: "A service can't be reached",
  status: 503,
  detail: "The marketplace can't be reached, or responds too slowly.",
  instance: "request-of-a-test",
  code: "upstream-unavailable",
};

/** Fails requests to the URLs, until the screen marks its data as stale and, after a reload, shows an error. The page's clock must be installed. */
export async function assertStaleAndFailed(page: Page, urls: string, screen: string): Promise<void> {
  const content = page.locator("#content");
  await page.route(urls, (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", json: unavailable }),
  );
  await eventually(`${screen} is marked as stale`, patienceMs, async () => {
    await page.clock.fastForward("01:00");
    await refocus(page);
    return content.getByText("It is shown as it was").isVisible();
  });
  await assertAccessible(page, `${screen}: stale`);
  await page.reload();
  await content.getByText("request-of-a-test").waitFor();
  await assertAccessible(page, `${screen}: error`);
  await page.unroute(urls);
}

/** Fails if the page is wider than the window. */
export async function assertNoSidewaysScroll(page: Page, state: string): Promise<void> {
  const excess = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  assert.equal(excess, 0, `${state} is ${excess} pixels too wide`);
}

/**
 * Runs in the page: the words of the content that are broken in their middle, except in what only screen readers read. The content of
 * a window that becomes narrower has hardly any room until the navigation has slid away: transitions are finished first.
 */
const brokenWords = `(() => {
  document.querySelector("#content").getBoundingClientRect();
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  const isClipped = (element) =>
    element !== null && (getComputedStyle(element).clipPath !== "none" || isClipped(element.parentElement));
  const broken = [];
  const walker = document.createTreeWalker(document.querySelector("#content"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (isClipped(walker.currentNode.parentElement)) continue;
    for (const { index, 0: word } of walker.currentNode.data.matchAll(/[\\p{L}\\d]+/gu)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

export async function assertNoBrokenWords(page: Page, state: string): Promise<void> {
  assert.deepEqual(await page.evaluate<string[]>(brokenWords), [], `${state} breaks words`);
}

/** Moves the focus by Tab until it is on the element. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < maxTabs; tabs += 1) {
    await page.keyboard.press("Tab");
    if ((await target.and(page.locator(":focus")).count()) > 0) return;
  }
  assert.fail(`the focus doesn't reach ${String(target)}`);
}
