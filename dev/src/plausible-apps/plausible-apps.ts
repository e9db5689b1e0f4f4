import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { v7 as uuid } from "uuid";
import type { AppRow, PlanRow, VendorRow } from "../catalog/insert-catalog.ts";
import { actions, actors, benefits, codas, details, nuclei, onsets, products, qualifiers } from "./vocabulary.ts";

export interface PlausibleApp {
  app: Omit<AppRow, "vendor_id">;
  plan: Omit<PlanRow, "app_id">;
  popularity: number;
}

export const categories = (
  "FRONT_OFFICE FINANCIAL OFFICE_ADMINISTRATION OFFICE_DEVICE_INTEGRATION DOCUMENTATION RECORDS_MANAGEMENT " +
  "CARE_COORDINATION POPULATION_HEALTH EHR_EFFICIENCY ORDERING_PRESCRIBING MEDICAL_DEVICE_INTEGRATION SPECIALTY_EHR " +
  "PATIENT_ENGAGEMENT CLINICAL_DECISION_SUPPORT REMOTE_CARE"
).split(" ");

/** A seeded random generator: the same seed gives the same texts, so that benchmark runs measure the same catalog. */
export class Chance {
  readonly #generator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  below(limit: number): number {
    return uniformInt(this.#generator, 0, limit - 1);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  some<T>(of: readonly T[], count: number): T[] {
    return Array.from({ length: count }, () => this.one(of));
  }
}

function coinedName(chance: Chance): string {
  const syllables = Array.from({ length: 1 + chance.below(2) }, () => chance.one(onsets) + chance.one(nuclei)).join("");
  const name = syllables + chance.one(codas);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const slugOf = (name: string, number: number): string => `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${number}`;

export function plausibleVendor(chance: Chance, number: number): VendorRow {
  const name = `${coinedName(chance)} ${chance.one(["Health", "Medical", "Systems", "Labs", "Care", "Software"])}`;
  const slug = slugOf(name, number);
  return { id: uuid(), slug, name, website_url: `https://${slug}.example` };
}

export function plausibleApp(chance: Chance, number: number, mediaUrl: string): PlausibleApp {
  const brand = coinedName(chance);
  const name =
    chance.below(3) === 0
      ? `${brand} ${chance.one(qualifiers)} ${chance.one(products)}`
      : `${brand} ${chance.one(products)}`;
  const slug = slugOf(name, number);
  const summary = `Helps ${chance.one(actors)} ${chance.one(actions)} ${chance.one(benefits)}.`;
  const bullets = chance.some(actions, 4).map((action) => `- ${action} ${chance.one(benefits)}`);
  const description = [
    `**${name}** helps ${chance.one(actors)} ${chance.one(actions)} and ${chance.one(actions)}.`,
    bullets.join("\n"),
    `### Before you install`,
    chance.some(details, 4).join(" "),
  ].join("\n\n");
  const site = `https://${slug}.example`;
  const published = Date.UTC(2021, 0, 1) + chance.below(2_000) * 86_400_000 + chance.below(86_400) * 1_000;
  const free = chance.below(4) === 0;
  return {
    app: {
      id: uuid(),
      slug,
      category: chance.one(categories),
      name,
      summary,
      description,
      icon_url: `${mediaUrl}/generated.svg`,
      version: `${1 + chance.below(5)}.${chance.below(20)}.0`,
      featured: number % 5_000 === 0,
      extension_points: ["patient-chart-panel"],
      smart_launch_url: chance.below(3) === 0 ? null : `${site}/launch`,
      fhir_scopes: "launch openid fhirUser patient/Patient.rs patient/Observation.rs",
      screenshots: [`${mediaUrl}/generated-1.svg`],
      website_url: site,
      support_url: `${site}/support`,
      privacy_policy_url: `${site}/privacy`,
      terms_url: `${site}/terms`,
      config_schema: null,
      baa_available: chance.below(5) > 0,
      published_at: new Date(published).toISOString(),
      updated_at: new Date(published + chance.below(300) * 86_400_000).toISOString(),
    },
    plan: {
      id: uuid(),
      position: 0,
      name: "Standard",
      description: "Everything, for one practice",
      pricing_model: free ? "FREE" : "FLAT",
      currency: "USD",
      amount: free ? 0 : 900 + 100 * chance.below(300),
      interval: free ? null : "MONTH",
      trial_days: free ? 0 : 14,
      unit_name: null,
      included_units: null,
      tiers: [],
      tier_mode: null,
      metric: null,
      aggregation: null,
      features: ["All features", "Support by mail"],
    },
    // A long-tailed distribution: few apps are very popular.
    popularity: Math.floor(20_000 / (1 + chance.below(2_000))) + chance.below(10),
  };
}
