import type {
  AppDto,
  AppVersionPage,
  CategoryDto,
  PricingPlanDto,
  QuoteDto,
  VendorProfile,
} from "@ehr-marketplace/contracts";
import type { SearchResults } from "../catalog/catalog.ts";

/** What each page shows. Routes gather it, and views render it. */
export interface HomeData {
  categories: CategoryDto[];
  featured: AppDto[];
  newest: AppDto[];
  popular: AppDto[];
}

/** The filters of the results, as the URL has them. */
export interface ResultsQuery {
  q?: string | undefined;
  category?: string | undefined;
  vendor?: string | undefined;
  sort?: string | undefined;
  /** From 1. */
  page: number;
}

export interface ResultsData extends SearchResults {
  query: ResultsQuery;
  pages: number;
  categories: CategoryDto[];
  vendor: VendorProfile | undefined;
  /** If nothing was found: categories in which the search finds something, and popular apps. */
  elsewhere: { category: CategoryDto; count: number }[];
  popular: AppDto[];
}

export interface CalculatorInput {
  plan: PricingPlanDto;
  quantity: string | undefined;
  usage: string | undefined;
}

export type Estimate =
  | { status: "calculated"; quote: QuoteDto }
  | { status: "unavailable" | "refused" | "free" | "usage" };

export interface AppData {
  app: AppDto;
  categories: CategoryDto[];
  /** Undefined: they can't be read at the moment. */
  plans: PricingPlanDto[] | undefined;
  vendor: VendorProfile | undefined;
  versions: AppVersionPage | undefined;
  /** What the calculator shows; undefined without plans. */
  calculator: (CalculatorInput & { estimate: Estimate }) | undefined;
}

export interface VendorData {
  vendor: VendorProfile;
  apps: AppDto[];
  total: number;
}

export interface VersionsData {
  app: AppDto;
  versions: AppVersionPage;
  isFirstPage: boolean;
}

export interface MessageData {
  /** Above the title. */
  label?: string;
  title: string;
  text: string;
  /** Where to go on; the first is what most people want. */
  actions: { href: string; text: string }[];
  note?: { name: string; value: string };
}

export interface ErrorData {
  status: number;
  /** Of the problem. */
  code: string;
  /** Of the request, for support. */
  requestId: string;
  detail: string;
}

/** Where the browser finds what a page loads. */
export interface AssetUrls {
  styles: string;
  theme: string;
  islands: string;
  font: string;
}

export interface PageContext {
  assets: AssetUrls;
  publicUrl: string;
  /** Where those who want to publish apps begin; without it, there is no link. */
  vendorsUrl: string | undefined;
  /** Where people reach the operator's support; without it, there is no link. */
  supportUrl: string | undefined;
  /** The path and query of the page, as one writes them. */
  path: string;
  /** Set if the page shows data that may be outdated. */
  stale?: { minutes: number; currentAt: Date } | undefined;
}
