/** What screens keep in the URL, so that a link shows the same. Whatever an address has, each value is valid or absent. */
export type Raw = Record<string, unknown>;

/** The router reads "5" as a number; as text it is "5" again. */
function readText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  return text === "" || text.length > maxLength ? undefined : text;
}

const readMatch = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

/** Where a page of a list begins, as the API said. */
const readCursor = (value: unknown): string | undefined => readMatch(value, /^[\w-]{1,200}$/);

/** A day, such as "2026-11-17". */
function readDay(value: unknown): string | undefined {
  const day = readMatch(value, /^(?:19|20)\d{2}-\d{2}-\d{2}$/);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day ?? "") ? day : undefined;
}

const withoutAbsent = <T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

export const statusFilters = ["live", "active", "paused", "cancelled", "all"] as const;
export type StatusFilter = (typeof statusFilters)[number];

export interface SubscriptionsSearch {
  q?: string;
  status?: StatusFilter;
  /** The subscription whose details are shown. */
  open?: string;
}

export const readSubscriptionsSearch = (raw: Raw): SubscriptionsSearch =>
  withoutAbsent({
    q: readText(raw["q"], 200),
    status: statusFilters.find((status) => status === raw["status"]),
    open: readText(raw["open"], 36),
  });

export interface SubscribeSearch {
  practice?: string;
  plan?: string;
  quantity?: string;
  usage?: string;
}

export const readSubscribeSearch = (raw: Raw): SubscribeSearch =>
  withoutAbsent({
    practice: readText(raw["practice"], 64),
    plan: readText(raw["plan"], 36),
    quantity: readText(raw["quantity"], 10),
    usage: readText(raw["usage"], 40),
  });

export interface SubscribedSearch {
  practice: string;
}

export const readSubscribedSearch = (raw: Raw): SubscribedSearch => ({ practice: readText(raw["practice"], 64) ?? "" });

export interface NoticesSearch {
  unread?: true;
  after?: string;
}

export const readNoticesSearch = (raw: Raw): NoticesSearch =>
  withoutAbsent({ unread: raw["unread"] === true ? true : undefined, after: readCursor(raw["after"]) });

/** Which page of a list without filters is shown. */
export interface PageSearch {
  after?: string;
}

export const readPageSearch = (raw: Raw): PageSearch => withoutAbsent({ after: readCursor(raw["after"]) });

export interface AuditSearch {
  /** Days in UTC, both included. */
  from?: string;
  to?: string;
  action?: string;
  /** The id of what was changed. */
  target?: string;
  after?: string;
}

export const readAuditSearch = (raw: Raw): AuditSearch =>
  withoutAbsent({
    from: readDay(raw["from"]),
    to: readDay(raw["to"]),
    action: readMatch(raw["action"], /^[a-z.-]{1,100}$/),
    target: readMatch(raw["target"], /^[\w.:-]{1,255}$/),
    after: readCursor(raw["after"]),
  });
