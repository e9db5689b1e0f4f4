import type { CategoryDto, ListAppsQuery, ListVersionsQuery, SearchAppsQuery } from "@ehr-marketplace/contracts";
import { slugPattern } from "@ehr-marketplace/contracts";
import {
  createRepresentation,
  invalidRequest,
  Problem,
  type Representation,
  type ResponseCache,
} from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { listVersions } from "../reviews/list-versions.ts";
import { findApps, type SearchResult } from "../search/search-apps.ts";
import { vendorProblems } from "../vendors/vendor-errors.ts";
import { buildPageJson, parsePageRequest } from "./app-page.ts";
import { appNotFound } from "./catalog-errors.ts";
import {
  findApp,
  findAppId,
  findCategories,
  findFeatured,
  findMostPopular,
  findPage,
  findPricing,
  findVendorProfile,
  isCategory,
} from "./catalog-store.ts";

export interface CatalogDeps {
  database: Kysely<DB>;
  responseCache: ResponseCache;
  /** Of the paths of the catalog's routes. */
  prefix: string;
}

const maxSearchResults = 100;
/** The release notes are read from drafts of up to 256 KiB. */
const maxVersions = 20;
/** Highlighting takes about a millisecond for an app with a long description. */
const maxHighlighted = 20;
const slugRegExp = new RegExp(slugPattern);

const jsonResponse = (json: string, headers: Record<string, string> = {}): Representation =>
  createRepresentation(json, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "public, max-age=30, stale-while-revalidate=60",
    headers,
  });

const jsonArrayResponse = (apps: string[], headers?: Record<string, string>): Representation =>
  jsonResponse(`[${apps.join(",")}]`, headers);

export async function listApps(deps: CatalogDeps, query: ListAppsQuery): Promise<Representation> {
  const request = parsePageRequest(query);
  return deps.responseCache.getList(`list ${JSON.stringify(request)}`, async () => {
    const found = await findPage(deps.database, request);
    const isUnknownCategory = request.category !== undefined && found.total === null;
    return jsonResponse(buildPageJson(request, found), isUnknownCategory ? { link: categoryHelp(deps) } : {});
  });
}

const categoryHelp = ({ prefix }: CatalogDeps): string =>
  `<${prefix}/apps/categories>; rel="help"; title="Unknown category: see the list of categories"`;

export async function searchApps(deps: CatalogDeps, query: SearchAppsQuery): Promise<Representation> {
  const text = query.q?.trim() ?? "";
  const { page, highlight } = query;
  const category = query.category?.toUpperCase();
  const limit = Math.min(query.limit, highlight ? maxHighlighted : maxSearchResults);
  if (text === "" && category === undefined) {
    throw invalidRequest("/query/q", "is required, unless category is given");
  }
  const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER);
  const key = JSON.stringify([text, category, limit, offset, highlight]);
  return deps.responseCache.getList(`search ${key}`, async () => {
    const found: SearchResult =
      text === "" && category !== undefined
        ? { ...(await findMostPopular(deps.database, category, { limit, offset })), corrected: undefined }
        : await findApps(deps.database, { text, category, limit, offset, highlight });
    const headers: Record<string, string> = { "x-total-count": String(found.total) };
    // A header is ASCII, and words may not be.
    if (found.corrected !== undefined) headers["x-did-you-mean"] = encodeURIComponent(found.corrected);
    if (offset + limit < found.total) {
      // Only what is in the cache's key: the response is shared.
      const next = new URLSearchParams({
        ...(text !== "" && { q: text }),
        ...(category !== undefined && { category }),
        limit: String(limit),
        highlight: String(highlight),
        page: String(page + 1),
      });
      headers["link"] = `<${deps.prefix}/apps/search?${next.toString()}>; rel="next"`;
    } else if (category !== undefined && found.total === 0 && !(await isCategory(deps.database, category))) {
      headers["link"] = categoryHelp(deps);
    }
    return jsonArrayResponse(found.apps, headers);
  });
}

export async function listFeatured(deps: CatalogDeps): Promise<Representation> {
  return deps.responseCache.getList("featured", async () => jsonArrayResponse(await findFeatured(deps.database)));
}

export async function listCategories(deps: CatalogDeps): Promise<Representation> {
  return deps.responseCache.getList("categories", async () => {
    const categories: CategoryDto[] = await findCategories(deps.database);
    return jsonResponse(JSON.stringify(categories));
  });
}

export async function getApp(deps: CatalogDeps, slug: string): Promise<Representation> {
  return getAppResponse(deps, "app", slug, findApp);
}

export async function getPricing(deps: CatalogDeps, slug: string): Promise<Representation> {
  return getAppResponse(deps, "pricing", slug, findPricing);
}

export async function getVersions(deps: CatalogDeps, slug: string, query: ListVersionsQuery): Promise<Representation> {
  const page = { limit: Math.min(query.limit, maxVersions), after: query.after };
  return getAppResponse(deps, `versions ${JSON.stringify(page)}`, slug, async (database) => {
    const appId = await findAppId(database, slug);
    return appId === undefined ? undefined : JSON.stringify(await listVersions(database, appId, page));
  });
}

/** Cached like a list, because each publication of one of the vendor's apps may change it. */
export async function getVendorProfile(deps: CatalogDeps, slug: string): Promise<Representation> {
  const vendorNotFound = (): Problem =>
    new Problem(vendorProblems.notFound, "No vendor with published apps has that slug.");
  if (!slugRegExp.test(slug)) throw vendorNotFound();
  return deps.responseCache.getList(`vendor ${slug}`, async () => {
    const vendor = await findVendorProfile(deps.database, slug);
    if (vendor === undefined || vendor.appCount === 0) throw vendorNotFound();
    return jsonResponse(JSON.stringify(vendor));
  });
}

async function getAppResponse(
  deps: CatalogDeps,
  what: string,
  slug: string,
  find: typeof findApp,
): Promise<Representation> {
  if (!slugRegExp.test(slug)) throw appNotFound();
  return deps.responseCache.getOne(slug, `${what} ${slug}`, async () => {
    const json = await find(deps.database, slug);
    if (json === undefined) throw appNotFound();
    return jsonResponse(json);
  });
}
