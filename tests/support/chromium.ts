import { type CleanUp, keepLog } from "@ehr-marketplace/test-kit";
import type { Browser, BrowserContext } from "playwright-core";

/** Starts Debian's Chromium, without what it loads from elsewhere by itself. */
export async function launchChromium(cleanUp: CleanUp, ...args: string[]): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    timeout: 120_000,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  });
  cleanUp(() => browser.close());
  browser.on("context", logPages);
  return browser;
}

/** Keeps where the pages went and which errors they had, for when a test fails. */
function logPages(context: BrowserContext): void {
  const log = keepLog("the browser");
  context.on("page", (page) => {
    page.on("framenavigated", (frame) => log(`at ${frame.url()}`));
    page.on("pageerror", (error) => log(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") log(message.text());
    });
  });
}
