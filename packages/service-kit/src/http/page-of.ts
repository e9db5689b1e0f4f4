import type { PageQuery } from "@ehr-marketplace/contracts";
import { cursorOf, invalidCursor, readCursor } from "./cursor.ts";
import { uuidFormat } from "./uuid-format.ts";

/** What a list by time is asked for: so many, from the place on where the page before ended. */
export interface Slice {
  after: { at: string; id: string } | undefined;
  limit: number;
}

const mostItems = 1_000;

// The year 0 and years of more digits are dates to JavaScript, and an error to PostgreSQL.
const writtenTime = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function placeOf(cursor: string): { at: string; id: string } {
  const [at = "", id = ""] = readCursor(cursor, 2);
  const isTime = writtenTime.test(at) && !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at;
  if (!isTime || !uuidFormat.test(id)) throw invalidCursor();
  return { at, id };
}

/** One page, and the way to the next: one row more than is wanted tells whether there is one. */
export async function pageOf<Row extends { id: string }, Item>(
  query: PageQuery,
  list: {
    find: (slice: Slice) => Promise<Row[]>;
    timeOf: (row: Row) => Date;
    itemOf: (row: Row) => Item;
    maxItems?: number;
  },
): Promise<{ items: Item[]; next: string | null }> {
  const limit = Math.min(query.limit, list.maxItems ?? mostItems);
  const after = query.after === undefined ? undefined : placeOf(query.after);
  const found = await list.find({ after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last !== undefined ? cursorOf(list.timeOf(last).toISOString(), last.id) : null;
  return { items: rows.map(list.itemOf), next };
}
