import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import type { AppDto, AppPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, type DevStack, eventually, startDevStack } from "@ehr-marketplace/tests/support";
import { chromium } from "playwright-core";

async function assertStops(stack: DevStack, signal: NodeJS.Signals): Promise<void> {
  stack.signal(signal);
  // npm itself leaves at once; what it started tells when it is done.
  await eventually("it says that it has stopped", 30_000, () => /^stopped$/m.test(stack.printed()));
  await assert.rejects(fetch(stack.marketplaceUrl));
}

describe("a new user starts the stack", () => {
  const cleanUp = cleanUpAfter();
  let stack: DevStack;
  before(async () => {
    stack = await startDevStack(cleanUp);
  });

  test("finds everything that it names, and a catalog with pictures", async () => {
    const { marketplaceUrl } = stack;
    for (const [, url] of stack.printed().matchAll(/^ {2}\S.*?(http:\/\/\S+)/gm)) {
      assert.equal((await fetch(url ?? "")).status, 200, url);
    }
    const page = (await (await fetch(`${marketplaceUrl}/api/v1/apps?size=100`)).json()) as AppPage;
    assert.equal(page.totalElements, 60);
    const pictures = page.content.flatMap((app: AppDto) => [app.iconUrl, ...app.screenshots]);
    for (const picture of pictures) {
      assert.ok(picture.startsWith(`${marketplaceUrl}/media/`));
      const answer = await fetch(picture);
      assert.equal(answer.headers.get("content-type"), "image/svg+xml", picture);
      assert.match(await answer.text(), /^<svg /);
    }
  });

  test("reads the API reference, drawn in a browser that loads nothing from elsewhere", async () => {
    const { marketplaceUrl } = stack;
    const browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    cleanUp(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const elsewhere: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(marketplaceUrl) && !request.url().startsWith("data:"))
        elsewhere.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    await page.goto(`${marketplaceUrl}/docs`);
    await page.getByRole("heading", { name: "EHR Marketplace API" }).waitFor();
    await page.getByText("Search apps").first().waitFor();
    await page.getByText("Get an app's pricing").last().scrollIntoViewIfNeeded();
    await page.goto(`${marketplaceUrl}/docs#tag/events`);
    await page.getByText("A practice subscribed to an app").first().waitFor();
    await page.evaluate("document.fonts.ready");
    assert.deepEqual({ elsewhere, errors }, { elsewhere: [], errors: [] });
  });

  test("stops it with SIGINT", () => assertStops(stack, "SIGINT"));
});

test("a new user stops the stack with SIGTERM", async (t) => {
  await assertStops(await startDevStack(cleanUpAfter(t)), "SIGTERM");
});

/** Every process that was started with the stack's port in its environment, npm's own included. */
async function processesOf(stack: DevStack): Promise<string[]> {
  const mark = `MARKETPLACE_PORT=${new URL(stack.marketplaceUrl).port}\0`;
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(ids.map((id) => readFile(`/proc/${id}/environ`, "utf8").catch(() => "")));
  return ids.filter((_id, index) => environments[index]?.includes(mark));
}

test("a stack that is killed leaves no process behind", async (t) => {
  const stack = await startDevStack(cleanUpAfter(t));
  assert.ok((await processesOf(stack)).length > 3);
  stack.signal("SIGKILL");
  await eventually("all of its processes are gone", 15_000, async () => (await processesOf(stack)).length === 0);
});
