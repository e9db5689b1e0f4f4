export interface DemoVendor {
  slug: string;
  name: string;
  websiteUrl: string;
}

export interface DemoTier {
  upTo: number | null;
  unitAmount: number | string;
  flatAmount: number;
}

export interface DemoPlan {
  name: string;
  description: string;
  pricingModel: "FREE" | "FLAT" | "PER_UNIT" | "TIERED" | "USAGE";
  currency: string;
  amount: number | string | null;
  interval: "MONTH" | "YEAR" | null;
  trialDays?: number;
  unitName?: string;
  includedUnits?: number;
  tiers?: DemoTier[];
  tierMode?: "GRADUATED" | "VOLUME";
  metric?: string;
  aggregation?: "SUM" | "COUNT" | "MAX" | "LATEST";
  features: string[];
}

export interface DemoApp {
  slug: string;
  vendor: string;
  name: string;
  summary: string;
  description: string;
  category: string;
  audience: "CLINICIAN" | "PATIENT" | "BACKEND";
  version: string;
  glyph: string;
  hue: number;
  extensionPoints: string[];
  smartLaunchUrl: string | null;
  /** The keys of an app that runs in the background; by default at its vendor's website, which doesn't exist. */
  jwksUri?: string;
  fhirScopes: string;
  featured: boolean;
  /** The number of demo practices that subscribe to it. */
  subscribers: number;
  screenshotTitles: string[];
  publishedAt: string;
  updatedAt: string;
  configSchema: object | null;
  plans: DemoPlan[];
}
