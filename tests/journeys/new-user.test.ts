import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AppPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import { assertCallable } from "@ehr-marketplace/tests/support/assert-callable";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { type DevStack, prepareStackData, startDevStack } from "@ehr-marketplace/tests/support/dev-stack";
import { assertStops, assertStopsEarly } from "@ehr-marketplace/tests/support/stop-dev-stack";

/** Sign-in leads to the identity provider, whose page needs cookies. */
async function assertServed(url: string): Promise<void> {
  const isSignIn = url.endsWith("/login");
  const { status } = await fetch(url, { redirect: isSignIn ? "manual" : "follow" });
  assert.equal(status, isSignIn ? 303 : 200, url);
}

describe("the development stack of a new user", () => {
  const cleanUp = cleanUpAfter();
  let stack: DevStack;
  before(async () => {
    // Loading the demo catalog takes most of a first start. The templates' data is loaded by the same functions.
    stack = await startDevStack(cleanUp, isFullRun ? {} : { data: await prepareStackData(cleanUp) });
  });

  test("serves every URL that it prints, and a catalog with images", async () => {
    const { marketplaceUrl } = stack;
    for (const [, url = ""] of stack.output().matchAll(/^ {2}\S.*?(http:\/\/\S+)/gm)) await assertServed(url);
    const page = (await (await fetch(`${marketplaceUrl}/api/v1/apps?size=100`)).json()) as AppPage;
    assert.equal(page.totalElements, 60);
    const pictures = page.content.flatMap(({ iconUrl, screenshots }: AppDto) => [
      { url: iconUrl, type: "image/png" },
      ...screenshots.map((url) => ({ url, type: "image/webp" })),
    ]);
    for (const { url, type } of pictures) {
      assert.ok(url.startsWith(`${marketplaceUrl}/media/`));
      const response = await fetch(url);
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], url);
      assert.equal((await response.arrayBuffer()).byteLength, Number(response.headers.get("content-length")));
    }
  });

  test("prints no warning while it starts, and no line for a request", () => {
    // The requests of the test before have been served. A busy machine may be too slow for a connection, which is a warning.
    const lines = stack.output().split("\n");
    const logged = lines.filter((line) => /\b[A-Z]+: |\bWarning: /.test(line) && !/time(d )?out/i.test(line));
    assert.deepEqual(logged, []);
  });

  test("has an index at / of each process without pages, whose links lead somewhere", async () => {
    for (const url of [stack.marketplaceUrl, stack.ehrUrl, stack.workerUrl]) {
      type Index = { title: string; links: Record<string, string> };
      const index = (await (await fetch(url)).json()) as Index | { data: Index };
      const { title, links } = "data" in index ? index.data : index;
      assert.ok(title.includes("EHR") && "health" in links, url);
      for (const path of Object.values(links)) await assertServed(url + path);
    }
  });

  test("lets a front end on another port call both APIs with a token", async () => {
    for (const origin of ["http://localhost:5173", "http://127.0.0.1:3000"]) await assertCallable(stack, origin);
    const response = await fetch(`${stack.marketplaceUrl}/api/v1/subscriptions`, {
      headers: { origin: "http://localhost" },
    });
    assert.equal(response.headers.get("access-control-allow-origin"), null);
  });

  test("renders the API reference in a browser without loading anything from other origins", async () => {
    const { marketplaceUrl } = stack;
    const browser = await launchChromium(cleanUp);
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(120_000);
    const otherOrigins: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(marketplaceUrl) && !request.url().startsWith("data:"))
        otherOrigins.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    // From the overview to the health of the process, the problems and the reference, by the links that they have.
    await page.goto(marketplaceUrl);
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { name: "Ready" }).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Problems" }).click();
    await page.getByRole("link", { name: "forbidden" }).click();
    await page.getByRole("heading", { name: "The caller is not allowed to do this" }).waitFor();
    await page.goto(`${marketplaceUrl}/api/v1`);
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: "EHR Marketplace API" }).waitFor();
    await page.getByText("Search apps").first().waitFor();
    await page.getByText("Get an app's pricing").last().scrollIntoViewIfNeeded();
    await page.goto(`${marketplaceUrl}/docs#tag/events`);
    await page.getByText("A practice subscribed to an app").first().waitFor();
    await page.evaluate("document.fonts.ready");
    assert.deepEqual({ otherOrigins, errors }, { otherOrigins: [], errors: [] });
  });

  test("signs a demo user in and out with a browser", async () => {
    const { webUrl } = stack;
    const browser = await launchChromium(cleanUp);
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(webUrl);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Mara Lindqvist" }).click();
    await page.getByRole("button", { name: "Account of Mara Lindqvist" }).click();
    await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${webUrl}/`);
    await page.goto(`${webUrl}/console`);
    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
  });

  test("stops on SIGINT", () => assertStops(stack, "SIGINT"));
});

test("the development stack, stopped while it starts PostgreSQL, begins no further step", async (t) => {
  const stack = await startDevStack(cleanUpAfter(t), { until: /Starting PostgreSQL/ });
  await assertStopsEarly(stack, "Migrating the databases");
});
