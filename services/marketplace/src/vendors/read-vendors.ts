import { type PageQuery, slugPattern, type VendorDto, type VendorPage } from "@ehr-marketplace/contracts";
import { decodeCursor, encodeCursor, invalidCursor, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { vendorProblems } from "./vendor-errors.ts";
import { vendorRecord } from "./vendor-record.ts";
import { findVendorId, findVendorRow, findVendorRows } from "./vendor-store.ts";

const maxPageSize = 1_000;
const slugRegExp = new RegExp(slugPattern);

export async function getVendor(database: Kysely<DB>, slug: string): Promise<VendorDto> {
  const row = await findVendorRow(database, slug);
  if (row === undefined) throw new Problem(vendorProblems.notFound, "No vendor has that slug.");
  return vendorRecord(row);
}

export async function listVendors(database: Kysely<DB>, query: PageQuery): Promise<VendorPage> {
  const limit = Math.min(query.limit, maxPageSize);
  const [after] = query.after === undefined ? [] : decodeCursor(query.after, 1);
  if (after !== undefined && !slugRegExp.test(after)) throw invalidCursor();
  const rows = await findVendorRows(database, { limit: limit + 1, after: after ?? "" });
  const items = rows.slice(0, limit).map(vendorRecord);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(last.slug) : null };
}

/** For the use cases of vendors, whose tokens may name a vendor that nobody has registered. */
export async function requireVendorId(database: Kysely<DB>, slug: string): Promise<string> {
  const id = await findVendorId(database, slug);
  if (id === undefined) throw new Problem(vendorProblems.unknown, "No vendor has that slug.");
  return id;
}
