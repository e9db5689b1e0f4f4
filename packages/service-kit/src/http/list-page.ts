import type { PageQuery } from "@ehr-marketplace/contracts";
import { decodeCursor, encodeCursor, invalidCursor } from "./cursor.ts";
import { uuidFormat } from "./strict-ajv.ts";

/** The rows of a list by time to fetch: at most `limit`, after the last row of the previous page. */
export interface PageSlice {
  after: { at: string; id: string } | undefined;
  limit: number;
}

const defaultMaxItems = 1_000;

// JavaScript accepts the year 0 and years of more than four digits; PostgreSQL doesn't.
const isoTime = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function parseCursor(cursor: string): { at: string; id: string } {
  const [at = "", id = ""] = decodeCursor(cursor, 2);
  const isTime = isoTime.test(at) && !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at;
  if (!isTime || !uuidFormat.test(id)) throw invalidCursor();
  return { at, id };
}

/** Lists one page with the cursor of the next. It fetches one extra row to find out whether there is a next page. */
export async function listPage<Row extends { id: string }, Item>(
  query: PageQuery,
  list: {
    find: (slice: PageSlice) => Promise<Row[]>;
    getTime: (row: Row) => Date;
    toItem: (row: Row) => Item;
    maxItems?: number;
  },
): Promise<{ items: Item[]; next: string | null }> {
  const limit = Math.min(query.limit, list.maxItems ?? defaultMaxItems);
  const after = query.after === undefined ? undefined : parseCursor(query.after);
  const found = await list.find({ after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next =
    found.length > limit && last !== undefined ? encodeCursor(list.getTime(last).toISOString(), last.id) : null;
  return { items: rows.map(list.toItem), next };
}

/** The same for a list by a unique name. `pattern` is that of the name, which a cursor has to match. */
export async function listPageByName<Row, Item>(
  query: PageQuery,
  list: {
    find: (slice: { after: string; limit: number }) => Promise<Row[]>;
    getName: (row: Row) => string;
    pattern: RegExp;
    toItem: (row: Row) => Item;
  },
): Promise<{ items: Item[]; next: string | null }> {
  const limit = Math.min(query.limit, defaultMaxItems);
  const [after = ""] = query.after === undefined ? [] : decodeCursor(query.after, 1);
  if (query.after !== undefined && !list.pattern.test(after)) throw invalidCursor();
  const found = await list.find({ after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last !== undefined ? encodeCursor(list.getName(last)) : null;
  return { items: rows.map(list.toItem), next };
}
