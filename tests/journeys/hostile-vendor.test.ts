import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { openPage } from "@ehr-marketplace/tests/support/storefront";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser } from "playwright-core";
import { attacks, combinedAttacks, createHostileCatalog, findForeignContent } from "./hostile-catalog.ts";

describe("what a vendor writes is text, in every field of every page", () => {
  const cleanUp = cleanUpAfter();
  let browser: Browser;
  before(async () => {
    browser = await launchChromium(cleanUp);
  });

  for (const [nth, attack] of (isFullRun ? attacks : combinedAttacks).entries()) {
    test(`attack ${nth + 1}: ${JSON.stringify(attack.slice(0, 60))}`, async (t) => {
      const cleanUpTest = cleanUpAfter(t);
      const catalog = createHostileCatalog(attack);
      const stub = await startMarketplaceStub(cleanUpTest, (request, response) =>
        sendJson(response, 200, catalog.find(([path]) => path.test(request.url ?? ""))?.[1]),
      );
      const web: RunningWeb = await startWeb(cleanUpTest, { marketplaceUrl: new URL(stub.url).origin });
      const { page, context, mistakes } = await openPage(browser, {
        web,
        marketplace: { url: new URL(stub.url).origin },
      });
      for (const path of [
        "/",
        "/apps",
        `/apps?q=${encodeURIComponent(attack)}`,
        "/apps/hostile-app",
        "/apps/hostile-app/versions",
        "/vendors/hostile-vendor",
      ]) {
        await page.goto(path);
        assert.deepEqual(await page.evaluate(findForeignContent), [], path);
        assert.ok(page.url().startsWith(web.url), page.url());
      }
      await page.goto("/");
      await page.getByRole("combobox").first().fill("hostile");
      const suggestion = page.getByRole("option").first();
      await suggestion.waitFor();
      assert.ok((await suggestion.textContent())?.includes(attack), "suggestions");
      assert.deepEqual(await page.evaluate(findForeignContent), [], "suggestions");
      await page.goto("/apps/hostile-app");
      await page.locator(".gallery a").last().focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Picture viewer" }).waitFor();
      assert.equal(await page.locator("dialog img").last().getAttribute("alt"), attack);
      assert.deepEqual(await page.evaluate(findForeignContent), [], "picture viewer");
      // The policy refuses icons of other origins, and says so in the console.
      assert.deepEqual(
        mistakes.filter((mistake) => !/img-src|Failed to load resource/.test(mistake)),
        [],
      );
      await context.close();
    });
  }
});
