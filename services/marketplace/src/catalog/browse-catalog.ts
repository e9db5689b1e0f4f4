import type { CategoryDto, ListAppsQuery, SearchAppsQuery } from "@ehr-marketplace/contracts";
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
import { buildPageJson, parsePageRequest } from "./app-page.ts";
import { catalogProblems } from "./catalog-errors.ts";
import {
  findApp,
  findCategories,
  findFeatured,
  findMatching,
  findMostPopular,
  findPage,
  findPricing,
} from "./catalog-store.ts";

export interface CatalogDeps {
  database: Kysely<DB>;
  responseCache: ResponseCache;
}

const maxSearchResults = 100;
const slugRegExp = new RegExp(slugPattern);

const jsonResponse = (json: string): Representation =>
  createRepresentation(json, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "public, max-age=30, stale-while-revalidate=60",
  });

const jsonArrayResponse = (apps: string[]): Representation => jsonResponse(`[${apps.join(",")}]`);

export async function listApps(deps: CatalogDeps, query: ListAppsQuery): Promise<Representation> {
  const request = parsePageRequest(query);
  return deps.responseCache.get(`list ${JSON.stringify(request)}`, async () =>
    jsonResponse(buildPageJson(request, await findPage(deps.database, request))),
  );
}

export async function searchApps(deps: CatalogDeps, query: SearchAppsQuery): Promise<Representation> {
  const text = query.q?.trim() ?? "";
  const { category } = query;
  const limit = Math.min(query.limit, maxSearchResults);
  if (text === "" && category === undefined) {
    throw invalidRequest("/query/q", "is required, unless category is given");
  }
  return deps.responseCache.get(`search ${JSON.stringify([text, category, limit])}`, async () =>
    jsonArrayResponse(
      text === "" && category !== undefined
        ? await findMostPopular(deps.database, category, limit)
        : await findMatching(deps.database, { text, category, limit }),
    ),
  );
}

export async function listFeatured(deps: CatalogDeps): Promise<Representation> {
  return deps.responseCache.get("featured", async () => jsonArrayResponse(await findFeatured(deps.database)));
}

export async function listCategories(deps: CatalogDeps): Promise<Representation> {
  return deps.responseCache.get("categories", async () => {
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

async function getAppResponse(
  deps: CatalogDeps,
  what: string,
  slug: string,
  find: typeof findApp,
): Promise<Representation> {
  const appNotFound = (): Problem => new Problem(catalogProblems.appNotFound, "No published app has that slug.");
  if (!slugRegExp.test(slug)) throw appNotFound();
  return deps.responseCache.get(`${what} ${slug}`, async () => {
    const json = await find(deps.database, slug);
    if (json === undefined) throw appNotFound();
    return jsonResponse(json);
  });
}
