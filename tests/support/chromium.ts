import type { CleanUp } from "@ehr-marketplace/test-kit";
import type { Browser } from "playwright-core";

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
  return browser;
}
