import type { AppDto, CategoryDto } from "@ehr-marketplace/contracts";
import { type Catalog, type SearchResults, toSearchResults } from "../catalog/catalog.ts";
import type { Reading } from "../catalog/catalog-client.ts";
import type { ResultsData, ResultsQuery } from "./page-data.ts";

const pageSize = 24;
const popularSort = "popularity,desc";
const maxCounted = 100;

export interface Gathered<T> {
  data: T;
  readings: (Reading<unknown> | undefined)[];
}

/** What the page of results shows: found apps, or what helps to find some. */
export async function gatherResults(catalog: Catalog, query: ResultsQuery): Promise<Gathered<ResultsData>> {
  const [found, categories, vendor] = await Promise.all([
    query.q === undefined ? list(catalog, query) : search(catalog, query, query.q),
    catalog.listCategories(),
    query.vendor === undefined ? undefined : catalog.getVendor(query.vendor),
  ]);
  const known = categories?.data ?? [];
  const help = found.results.total === 0 ? await gatherHelp(catalog, query, known) : noHelp;
  return {
    data: {
      ...found.results,
      query,
      pages: Math.ceil(found.results.total / pageSize),
      categories: known,
      vendor: vendor?.data,
      elsewhere: help.elsewhere,
      popular: help.popular,
    },
    readings: [found.reading, categories, vendor, ...help.readings],
  };
}

interface Found {
  results: SearchResults;
  reading: Reading<unknown> | undefined;
}

const nothing: SearchResults = { apps: [], total: 0, corrected: undefined };

async function list(catalog: Catalog, { category, vendor, sort = popularSort, page }: ResultsQuery): Promise<Found> {
  const reading = await catalog.listApps({ category, vendor, sort, page: page - 1, size: pageSize });
  if (reading === undefined) return { results: nothing, reading };
  const { content: apps, totalElements: total } = reading.data;
  return { results: { apps, total, corrected: undefined }, reading };
}

async function search(catalog: Catalog, { category, page }: ResultsQuery, q: string): Promise<Found> {
  const reading = await catalog.searchApps({ q, category, page: page - 1, limit: pageSize });
  return { results: reading === undefined ? nothing : toSearchResults(reading), reading };
}

interface Help extends Pick<ResultsData, "elsewhere" | "popular"> {
  readings: (Reading<unknown> | undefined)[];
}

const noHelp: Help = { elsewhere: [], popular: [], readings: [] };

/** If only the category has nothing, those that have; and what is popular. */
async function gatherHelp(catalog: Catalog, { q, category }: ResultsQuery, categories: CategoryDto[]): Promise<Help> {
  const [anywhere, popular] = await Promise.all([
    q === undefined || category === undefined ? undefined : catalog.searchApps({ q, limit: maxCounted }),
    catalog.listApps({ sort: popularSort, size: 6 }),
  ]);
  return {
    elsewhere: countByCategory(anywhere?.data ?? [], categories),
    popular: popular?.data.content ?? [],
    readings: [anywhere, popular],
  };
}

function countByCategory(apps: AppDto[], categories: CategoryDto[]): ResultsData["elsewhere"] {
  return categories
    .map((category) => ({ category, count: apps.filter((app) => app.category === category.category).length }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);
}
