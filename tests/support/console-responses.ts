import { eventually } from "@ehr-marketplace/test-kit";
import type { Locator, Page, Route } from "playwright-core";

const patienceMs = 120_000;

/** What screens read and change, on its way through the web. */
export const consoleApi = {
  subscriptions: "**/bff/marketplace/subscriptions?*",
  estimate: "**/bff/marketplace/subscriptions/*/estimate*",
  audit: "**/bff/marketplace/organisations/*/audit?*",
  statement: "**/bff/marketplace/organisations/*/statements/*",
  mails: "**/bff/marketplace/organisations/*/notice-settings",
  app: "**/bff/marketplace/apps/*",
  pricing: "**/bff/marketplace/apps/*/pricing",
  quote: "**/bff/marketplace/apps/*/estimate",
  installations: "**/bff/ehr/app-installations",
  installation: "**/bff/ehr/app-installations/*",
  launches: "**/bff/ehr/app-installations/*/launches?*",
  config: "**/bff/ehr/app-installations/*/config",
};
const problem = {
  type: "/problems/internal-error",
  title: "Something went wrong",
  status: 500,
  detail: "The request could not be completed.",
  instance: "request-of-a-test",
  code: "internal-error",
};
export const fail = (route: Route): Promise<void> =>
  route.fulfill({ status: 500, contentType: "application/problem+json", json: problem });
export const failNotFound = (route: Route): Promise<void> =>
  route.fulfill({ status: 404, contentType: "application/problem+json", json: { ...problem, status: 404 } });

/** Past the delays before the console retries. */
export async function fastForwardUntil(page: Page, expected: Locator): Promise<void> {
  await eventually(String(expected), patienceMs, async () => {
    if (await expected.isVisible()) return true;
    await page.clock.fastForward(2_000);
    return false;
  });
}
