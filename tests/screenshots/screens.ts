import type { Page } from "playwright-core";

export const sizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

export interface Screen {
  path: string;
  theme: "light" | "dark";
  size: keyof typeof sizes;
  /** Whether somebody has to be signed in. */
  isPrivate?: boolean;
  /** Brings the page into the state of the picture, and waits for it. */
  prepare: (page: Page) => Promise<unknown>;
}

const riverside = "/practice/riverside-clinic";
const scribe = "Northwind Scribe";
const heading = (name: string | RegExp) => (page: Page) => page.getByRole("heading", { name }).first().waitFor();

/** The pictures of the README, by the name of the file. To add one, add it here, and an image with an alternative text there. */
export const screens: Record<string, Screen> = {
  "storefront-home": { path: "/", theme: "light", size: "desktop", prepare: heading("Featured") },
  "storefront-results": { path: "/apps?q=messages", theme: "light", size: "desktop", prepare: heading(/apps?$/) },
  "storefront-app": { path: "/apps/northwind-scribe", theme: "light", size: "desktop", prepare: heading(scribe) },
  "storefront-app-phone": { path: "/apps/northwind-scribe", theme: "dark", size: "phone", prepare: heading(scribe) },
  subscribe: {
    path: "/console/subscribe/lumen-schedule",
    theme: "light",
    size: "desktop",
    isPrivate: true,
    prepare: heading("Subscribe to Lumen Schedule"),
  },
  "console-overview": {
    path: riverside,
    theme: "light",
    size: "desktop",
    isPrivate: true,
    prepare: heading("Overview"),
  },
  "console-subscription": {
    path: `${riverside}/subscriptions?status=all`,
    theme: "light",
    size: "desktop",
    isPrivate: true,
    async prepare(page) {
      await page.getByRole("button", { name: scribe }).click();
      await page.getByRole("dialog", { name: scribe }).getByRole("heading", { name: "History" }).waitFor();
    },
  },
  "console-settings": {
    path: `${riverside}/apps/northwind-scribe`,
    theme: "dark",
    size: "desktop",
    isPrivate: true,
    async prepare(page) {
      await heading(`Settings of ${scribe}`)(page);
      await page.getByRole("button", { name: "Save settings" }).waitFor();
    },
  },
};
