import type {
  AppDto,
  AppPage,
  AppVersionPage,
  CategoryDto,
  FoundAppDto,
  PricingPlanDto,
  QuoteBody,
  QuoteDto,
  VendorProfile,
} from "@ehr-marketplace/contracts";
import type { CatalogClient, Reading } from "./catalog-client.ts";
import { toQuery } from "./query.ts";

export interface ListQuery {
  category?: string | undefined;
  vendor?: string | undefined;
  sort?: string | undefined;
  /** From 0. */
  page?: number | undefined;
  size: number;
}

export interface SearchQuery {
  q: string;
  category?: string | undefined;
  page?: number | undefined;
  limit: number;
}

/** The results of a search, with what its headers say. */
export interface SearchResults {
  apps: FoundAppDto[];
  total: number;
  /** What was searched for instead of a mistyped text. */
  corrected: string | undefined;
}

type Readable<T> = Promise<Reading<T> | undefined>;

/** The catalog on behalf of one reader. */
export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(client: CatalogClient, clientAddress: string) {
  const get = <T>(path: string): Readable<T> => client.read<T>({ path, clientAddress });
  const pathOf = (kind: "apps" | "vendors", slug: string): string => `/${kind}/${encodeURIComponent(slug)}`;
  return {
    listApps: (query: ListQuery): Readable<AppPage> =>
      client.read({ path: `/apps?${toQuery({ ...query })}`, clientAddress, isEntered: isEnteredList(query) }),
    /** For sitemaps, which read all of it. */
    listAllApps: (query: ListQuery): Promise<AppPage | undefined> =>
      client.readUncached({ path: `/apps?${toQuery({ ...query })}`, clientAddress }),
    listFeatured: (): Readable<AppDto[]> => get("/apps/featured"),
    listCategories: (): Readable<CategoryDto[]> => get("/apps/categories"),
    getApp: (slug: string): Readable<AppDto> => get(pathOf("apps", slug)),
    getPricing: (slug: string): Readable<PricingPlanDto[]> => get(`${pathOf("apps", slug)}/pricing`),
    getVendor: (slug: string): Readable<VendorProfile> => get(pathOf("vendors", slug)),
    listVersions: (slug: string, after?: string): Readable<AppVersionPage> =>
      client.read({
        path: `${pathOf("apps", slug)}/versions?${toQuery({ limit: 20, after })}`,
        clientAddress,
        isEntered: after !== undefined,
      }),
    estimate: (slug: string, body: QuoteBody): Readable<QuoteDto> =>
      client.read({ path: `${pathOf("apps", slug)}/estimate`, body, clientAddress, isEntered: true }),
    searchApps: (query: SearchQuery): Readable<FoundAppDto[]> =>
      client.read({ path: `/apps/search?${toQuery({ ...query })}`, clientAddress, isEntered: true }),
  };
}

/** All but the first pages of everything: the marketplace has an empty page for any vendor, category and number. */
const isEnteredList = ({ vendor, category, page = 0 }: ListQuery): boolean =>
  vendor !== undefined || category !== undefined || page > 0;

export function toSearchResults({ data, headers }: Reading<FoundAppDto[]>): SearchResults {
  const corrected = headers.get("x-did-you-mean");
  return {
    apps: data,
    total: Number(headers.get("x-total-count") ?? data.length),
    corrected: corrected === null ? undefined : decodeURIComponent(corrected),
  };
}
