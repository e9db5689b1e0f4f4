import type { AppDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { toMajorUnits } from "./format.ts";
import { texts } from "./texts.ts";

/** Structured data for search engines (schema.org), as text for a script element of JSON. */
export const writeJsonLd = (data: object): string =>
  JSON.stringify({ "@context": "https://schema.org", ...data })
    // Nothing in it may end the element, or begin a comment in it.
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");

export const describeSite = (publicUrl: string): object => ({
  "@type": "WebSite",
  name: texts.site.name,
  url: `${publicUrl}/`,
  potentialAction: {
    "@type": "SearchAction",
    target: { "@type": "EntryPoint", urlTemplate: `${publicUrl}/apps?q={search_term_string}` },
    "query-input": "required name=search_term_string",
  },
});

const fixedPrices = new Set(["FREE", "FLAT", "PER_UNIT"]);

export function describeApp(app: AppDto, plans: PricingPlanDto[], publicUrl: string): object {
  return {
    "@type": "SoftwareApplication",
    name: app.name,
    description: app.summary,
    url: `${publicUrl}/apps/${app.slug}`,
    image: app.iconUrl,
    screenshot: app.screenshots,
    applicationCategory: "HealthApplication",
    operatingSystem: "Web",
    softwareVersion: app.version,
    datePublished: app.publishedAt,
    dateModified: app.updatedAt,
    author: { "@type": "Organization", name: app.vendor.name, url: `${publicUrl}/vendors/${app.vendor.slug}` },
    offers: plans
      .filter(({ pricingModel }) => fixedPrices.has(pricingModel))
      .map((plan) => ({
        "@type": "Offer",
        name: plan.name,
        price: toMajorUnits(plan.amount ?? 0, plan.currency),
        priceCurrency: plan.currency,
      })),
  };
}
