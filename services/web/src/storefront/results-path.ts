import type { ResultsQuery } from "./page-data.ts";

/** The path of a page of results, with each parameter in a fixed order: one page has one URL. */
export function resultsPath({ q, category, vendor, sort, page }: ResultsQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ q, category, vendor, sort })) {
    if (value !== undefined) parameters.set(name, value);
  }
  if (page > 1) parameters.set("page", String(page));
  return parameters.size === 0 ? "/apps" : `/apps?${parameters.toString()}`;
}
