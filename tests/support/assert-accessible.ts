import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { eventually } from "@ehr-marketplace/test-kit";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Rules whose result depends on the theme. */
const ofColours = ["color-contrast", "link-in-text-block"];
type Theme = "light" | "dark";
const patienceMs = 120_000;
let source: string | undefined;

/** Runs in the page: whether it shows this theme, and no colour is on its way to another. Paper has the light one. */
const showsTheme = (theme: Theme): string => `(() => {
  const { documentElement: root } = document;
  const expected = matchMedia("print").matches ? "light" : "${theme}";
  const { mantineColorScheme: consoles = "${theme}" } = root.dataset;
  const isChanging = document.getAnimations().some((animation) => animation instanceof CSSTransition);
  return getComputedStyle(root).colorScheme === expected && consoles === "${theme}" && !isChanging;
})()`;

/**
 * Runs axe in the page, whose document keeps axe for the next check. `@axe-core/playwright` loads it several times for each check, for frames that our
 * pages don't have, and so takes four times as much CPU time.
 */
async function findViolations(page: Page, options: RunOptions): Promise<AxeResults["violations"]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    source ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(source);
  }
  // Without what our pages don't have, and what nobody reads.
  const bounds = { resultTypes: ["violations"], selectors: false, preload: false, iframes: false };
  const run = `axe.run(document, ${JSON.stringify({ ...options, ...bounds })})`;
  return page.evaluate<AxeResults["violations"]>(`${run}.then(({ violations }) => violations)`);
}

/**
 * Fails if axe finds a violation of WCAG 2.2 AA in the page as it is now, in the light or in the dark theme. They differ in their colours
 * only, so the second one is checked by the rules about colours alone. It stays, because each change of theme draws the page anew.
 */
export async function assertAccessible(page: Page, state: string): Promise<void> {
  const isDark = await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches');
  const [first, second]: [Theme, Theme] = isDark ? ["dark", "light"] : ["light", "dark"];
  for (const theme of [first, second]) {
    if (theme === second) await page.emulateMedia({ colorScheme: theme });
    await eventually(`${state} is shown in the ${theme} theme`, patienceMs, () =>
      page.evaluate<boolean>(showsTheme(theme)),
    );
    const violations = await findViolations(page, { runOnly: theme === first ? tags : ofColours });
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
      [],
      `${state}, ${theme} theme`,
    );
  }
}
