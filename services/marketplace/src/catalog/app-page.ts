import type { AppPage, ListAppsQuery } from "@ehr-marketplace/contracts";

const maxPageSize = 100;

export interface PageRequest {
  category: string | undefined;
  vendor: string | undefined;
  page: number;
  size: number;
  sort: { property: string; descending: boolean };
}

export interface FoundPage {
  /** Null if the requested category doesn't exist. */
  total: number | null;
  count: number;
  /** The JSON of the apps, joined by commas. */
  content: string;
}

export function parsePageRequest(query: ListAppsQuery): PageRequest {
  const [property = "name", direction] = query.sort.split(",");
  return {
    category: query.category?.toUpperCase(),
    vendor: query.vendor,
    page: query.page,
    size: Math.min(query.size, maxPageSize),
    sort: { property, descending: direction?.toLowerCase() === "desc" },
  };
}

/** The content is inserted as text to avoid parsing it. */
export function buildPageJson({ page, size }: PageRequest, found: FoundPage): string {
  const totalElements = found.total ?? 0;
  const totalPages = Math.ceil(totalElements / size);
  const sort = { sorted: true, unsorted: false, empty: false };
  const envelope: Omit<AppPage, "content"> = {
    pageable: { pageNumber: page, pageSize: size, offset: page * size, paged: true, unpaged: false, sort },
    totalElements,
    totalPages,
    last: page >= totalPages - 1,
    first: page === 0,
    size,
    number: page,
    numberOfElements: found.count,
    sort,
    empty: found.count === 0,
  };
  return `{"content":[${found.content}],${JSON.stringify(envelope).slice(1)}`;
}
