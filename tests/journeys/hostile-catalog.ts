import type { AppDto, AppVersionDto, PricingPlanDto, VendorProfile } from "@ehr-marketplace/contracts";

/** Each would show a dialog, load something or leave its element, if it were anything but text. */
export const attacks = [
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

const opensComment = (attack: string): boolean => attack.startsWith("<!--");

/** One text with all of them, of which the one that would hide the others is last, and one that is a URL as a whole. */
export const combinedAttacks = [
  [...attacks.filter((attack) => !opensComment(attack)), ...attacks.filter(opensComment)].join(" "),
  "javascript:alert(1)",
];

export const instant = "2026-01-01T00:00:00.000Z";

/** An app and what belongs to it, with the attack in every text that a vendor can write. */
export function createHostileApp(attack: string) {
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
  return { app, plan, vendor, version, month };
}

/** A catalog of one such app: what the marketplace responds, by path. */
export function createHostileCatalog(attack: string) {
  const { app, plan, vendor, version, month } = createHostileApp(attack);
  return [
    [/\/apps\/categories/, [{ category: attack, name: attack, description: attack, appCount: 1 }]],
    [/\/apps\/(featured|search)/, [app]],
    [/\/apps\/[^/?]+\/pricing/, [plan]],
    [/\/apps\/[^/?]+\/estimate/, { currency: "USD", firstMonth: month, fullMonth: month, spendLimit: null }],
    [/\/apps\/[^/?]+\/versions/, { items: [version], next: attack }],
    [/\/apps\/[^/?]+$/, app],
    [/\/vendors\//, vendor],
    [/\/apps/, { content: [app], totalElements: 1, totalPages: 1, last: true }],
  ] as const;
}

/** Runs in the page: attributes with scripts, and elements and links that our pages never have. */
export const findForeignContent = `[...document.querySelectorAll("*")].flatMap((element) => {
  const handlers = element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style");
  const isForeign = element.matches("iframe, object, embed, base, style, meta[http-equiv], script:not([src]):not([type='application/ld+json'])");
  const link = element.getAttribute("href");
  const isScript = link !== null && !["http:", "https:", "mailto:"].includes(new URL(link, location.href).protocol);
  return handlers.length > 0 || isForeign || isScript ? [element.outerHTML.slice(0, 200)] : [];
})`;

/** The same for the console, whose library sets styles. */
export const findForeignElements = findForeignContent
  .replace('|| name === "style"', "")
  .replace("base, style, meta", "base, style:not([nonce]), meta");
