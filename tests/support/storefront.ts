import { type CleanUp, cloneDatabase } from "@ehr-marketplace/test-kit";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from "playwright-core";
import { demoSettings } from "./demo-settings.ts";
import { type RunningMarketplace, startMarketplace } from "./marketplace.ts";
import { type RunningWeb, startWeb } from "./web.ts";

export interface Storefront {
  web: RunningWeb;
  marketplace: RunningMarketplace;
}

/** Starts the web and a marketplace with the demo catalog, whose pictures are at the URL of the demo data. */
export async function startStorefront(cleanUp: CleanUp): Promise<Storefront> {
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const marketplace = await startMarketplace(cleanUp, serviceUrl);
  const web = await startWeb(cleanUp, {
    marketplaceUrl: marketplace.url,
    environment: { MEDIA_ORIGIN: demoSettings.publicUrl, VENDORS_URL: `${demoSettings.publicUrl}/docs#tag/listings` },
  });
  return { web, marketplace };
}

export interface OpenedPage {
  page: Page;
  context: BrowserContext;
  /** What must not happen: errors of scripts, violations of the policy, and requests to other origins. */
  mistakes: string[];
}

/** A busy machine takes its time; a test waits for what it expects, and fails only if that doesn't come. */
const patienceMs = 120_000;

/** Opens a page that records mistakes. Pictures come from the marketplace of the test. */
export async function openPage(
  browser: Browser,
  { web, marketplace }: Pick<Storefront, "web"> & { marketplace: { url: string } },
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ baseURL: web.url, reducedMotion: "reduce", ...options });
  const mistakes: string[] = [];
  await context.route(`${demoSettings.publicUrl}/media/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    await route.fulfill({ response: await route.fetch({ url: `${marketplace.url}${path}` }) });
  });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  page.on("pageerror", (error) => mistakes.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    mistakes.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // A refusal that a test opens on purpose is logged, too.
    if (message.type() === "error" && !/status of (400|403|404|429|503)/.test(message.text()))
      mistakes.push(message.text());
  });
  const recordForeign = (request: Request): void => {
    const { origin } = new URL(request.url());
    if (origin !== web.url && origin !== demoSettings.publicUrl) mistakes.push(`request: ${request.url()}`);
  };
  page.on("requestfinished", recordForeign);
  page.on("requestfailed", (request) => {
    // What the policy refuses isn't sent.
    if (request.failure()?.errorText !== "csp") recordForeign(request);
  });
  return { page, context, mistakes };
}
