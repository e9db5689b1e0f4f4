import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AppVersionDto, PricingPlanDto, VendorProfile } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import {
  launchChromium,
  openPage,
  type RunningWeb,
  sendJson,
  startMarketplaceStub,
  startWeb,
} from "@ehr-marketplace/tests/support";
import type { Browser } from "playwright-core";

/** Each would show a dialog, load something or leave its element, if it were anything but text. */
const attacks = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "' onfocus=alert(1) autofocus='",
  "</script><script>alert(1)</script>",
  "</title></head><body onload=alert(1)>",
  "<!--<script>alert(1)//-->",
  "javascript:alert(1)",
  "JaVa\tScRiPt:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  'https://evil.example/"onclick="alert(1)',
  "[x](javascript:alert(1)) <iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<base href=https://evil.example/><meta http-equiv=refresh content='0;url=https://evil.example'>",
  "{{constructor.constructor('alert(1)')()}} ${alert(1)}",
  "\u2028<style>@import 'https://evil.example/x.css'</style>\u202e",
];

const instant = "2026-01-01T00:00:00.000Z";

/** A catalog of one app, with the attack in every text that a vendor can write. */
function createHostileCatalog(attack: string) {
  const app: AppDto = {
    id: "01900000-0000-7000-8000-000000000001",
    slug: "hostile-app",
    name: attack,
    summary: attack,
    description: attack,
    iconUrl: attack,
    category: attack,
    vendor: { slug: "hostile-vendor", name: attack, websiteUrl: attack },
    version: attack,
    featured: true,
    audience: "CLINICIAN",
    extensionPoints: [attack],
    smartLaunchUrl: attack,
    cdsServicesUrl: attack,
    fhirScopes: `patient/Task.rs ${attack}`,
    scopePurposes: { "patient/Task.rs": attack },
    screenshots: [attack, "http://127.0.0.1:8080/media/1"],
    screenshotTexts: [attack, attack],
    websiteUrl: attack,
    supportUrl: attack,
    privacyPolicyUrl: attack,
    termsUrl: attack,
    pricingModels: ["PER_UNIT"],
    startingPrice: { amount: 100, currency: "USD", interval: "MONTH" },
    configSchema: null,
    baaAvailable: true,
    baaRequired: true,
    baaUrl: attack,
    trust: {
      certifications: [{ kind: attack, validUntil: "2027-01-01", evidenceUrl: attack, verifiedBy: null }],
      dataHandling: { regions: [attack], subprocessors: [attack] },
      accessibility: { standard: attack, reportUrl: attack, reportDate: "2026-01-01" },
      ai: { kind: attack, modelCard: attack },
    },
    publishedAt: instant,
    updatedAt: instant,
  };
  const plan: PricingPlanDto = {
    id: "01900000-0000-7000-8000-000000000002",
    name: attack,
    description: attack,
    pricingModel: "PER_UNIT",
    currency: "USD",
    amount: 100,
    interval: "MONTH",
    trialDays: 30,
    unitName: attack,
    includedUnits: 3,
    tiers: [],
    tierMode: null,
    metric: attack,
    aggregation: null,
    features: [attack],
  };
  const vendor: VendorProfile = {
    slug: "hostile-vendor",
    name: attack,
    websiteUrl: attack,
    supportEmail: attack,
    securityContact: attack,
    appCount: 1,
  };
  const version: AppVersionDto = { version: attack, releaseNotes: attack, publishedAt: instant };
  const line = { description: attack, quantity: "1", unitAmount: 100, days: 1, intervalDays: 30, amount: 3 };
  const month = { month: "2026-11", lines: [line], total: 3 };
  return [
    [/\/apps\/categories/, [{ category: attack, name: attack, description: attack, appCount: 1 }]],
    [/\/apps\/(featured|search)/, [app]],
    [/\/apps\/[^/?]+\/pricing/, [plan]],
    [/\/apps\/[^/?]+\/estimate/, { currency: "USD", firstMonth: month, fullMonth: month }],
    [/\/apps\/[^/?]+\/versions/, { items: [version], next: attack }],
    [/\/apps\/[^/?]+$/, app],
    [/\/vendors\//, vendor],
    [/\/apps/, { content: [app], totalElements: 1, totalPages: 1, last: true }],
  ] as const;
}

describe("what a vendor writes is text, in every field of every page", () => {
  const cleanUp = cleanUpAfter();
  let browser: Browser;
  before(async () => {
    browser = await launchChromium(cleanUp);
  });

  for (const [nth, attack] of attacks.entries()) {
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
      // The policy refuses icons of other origins, and says so in the console.
      assert.deepEqual(
        mistakes.filter((mistake) => !/img-src|Failed to load resource/.test(mistake)),
        [],
      );
      await context.close();
    });
  }
});

/** Runs in the page: attributes with scripts, and elements and links that our pages never have. */
const findForeignContent = `[...document.querySelectorAll("*")].flatMap((element) => {
  const handlers = element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style");
  const isForeign = element.matches("iframe, object, embed, base, style, meta[http-equiv], script:not([src]):not([type='application/ld+json'])");
  const link = element.getAttribute("href");
  const isScript = link !== null && !["http:", "https:", "mailto:"].includes(new URL(link, location.href).protocol);
  return handlers.length > 0 || isForeign || isScript ? [element.outerHTML.slice(0, 200)] : [];
})`;
