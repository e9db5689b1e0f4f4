import type { AuditFilters } from "../api/record-queries.ts";
import type { AuditSearch } from "../search-params.ts";
import { texts } from "../texts.ts";

const dayMs = 86_400_000;

/** The actions that an entry of a practice may have, by their names for people. */
export const actionChoices = Object.entries(texts.actions)
  .map(([value, label]) => ({ value, label }))
  .toSorted((one, other) => one.label.localeCompare(other.label));

/** What the API is asked for. A day ends where the next one begins. */
export function toAuditFilters({ from, to, action, target, after }: AuditSearch): AuditFilters {
  return {
    ...(from !== undefined && { from: `${from}T00:00:00.000Z` }),
    ...(to !== undefined && { to: new Date(Date.parse(`${to}T00:00:00.000Z`) + dayMs).toISOString() }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { targetId: target }),
    ...(after !== undefined && { after }),
  };
}

/** Whether some entries are left out. */
export const isFiltered = ({ from, to, action, target }: AuditSearch): boolean =>
  [from, to, action, target].some((value) => value !== undefined);

/** Whether no day can match. */
export const isReversed = ({ from, to }: AuditSearch): boolean => from !== undefined && to !== undefined && from > to;

/** A search with a filter set, or removed if it is empty. It begins at the first page. */
export function withFilter(
  { after: _page, ...search }: AuditSearch,
  name: "from" | "to" | "action" | "target",
  value: string,
): AuditSearch {
  const { [name]: _old, ...rest } = search;
  return value === "" ? rest : { ...rest, [name]: value };
}
