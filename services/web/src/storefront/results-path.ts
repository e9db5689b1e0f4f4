import { toQuery } from "../catalog/query.ts";
import type { ResultsQuery } from "./page-data.ts";

/** The path of a page of results, with its parameters in a fixed order: one page has one URL. */
export function resultsPath({ q, category, vendor, sort, page }: ResultsQuery): string {
  const query = toQuery({ q, category, vendor, sort, page: page > 1 ? page : undefined });
  return query === "" ? "/apps" : `/apps?${query}`;
}
