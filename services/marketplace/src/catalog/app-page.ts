import type { AppPage, ListAppsQuery } from "@ehr-marketplace/contracts";

const mostPerPage = 100;

export interface PageRequest {
  category: string | undefined;
  page: number;
  size: number;
  sort: { property: string; descending: boolean };
}

export function pageRequest(query: ListAppsQuery): PageRequest {
  const [property = "name", direction] = query.sort.split(",");
  return {
    category: query.category,
    page: query.page,
    size: Math.min(query.size, mostPerPage),
    sort: { property, descending: direction?.toLowerCase() === "desc" },
  };
}

/** `content` is JSON already, one app after the other: it is put into its place as text. */
export function pageJson(request: PageRequest, found: { total: number; count: number; content: string }): string {
  const { page, size } = request;
  const totalPages = Math.ceil(found.total / size);
  const sort = { sorted: true, unsorted: false, empty: false };
  const envelope: Omit<AppPage, "content"> = {
    pageable: { pageNumber: page, pageSize: size, offset: page * size, paged: true, unpaged: false, sort },
    totalElements: found.total,
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
