import { type PageQuery, slugPattern, type VendorDto, type VendorPage } from "@ehr-marketplace/contracts";
import { listPageByName, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { vendorProblems } from "./vendor-errors.ts";
import { vendorRecord } from "./vendor-record.ts";
import { findVendorId, findVendorRow, findVendorRows } from "./vendor-store.ts";

const slugRegExp = new RegExp(slugPattern);

export async function getVendor(database: Kysely<DB>, slug: string): Promise<VendorDto> {
  const row = await findVendorRow(database, slug);
  if (row === undefined) throw new Problem(vendorProblems.notFound, "No vendor has that slug.");
  return vendorRecord(row);
}

export function listVendors(database: Kysely<DB>, query: PageQuery): Promise<VendorPage> {
  return listPageByName(query, {
    find: (slice) => findVendorRows(database, slice),
    getName: (row) => row.slug,
    pattern: slugRegExp,
    toItem: vendorRecord,
  });
}

/** For the use cases of vendors, whose tokens may name a vendor that nobody has registered. */
export async function requireVendorId(database: Kysely<DB>, slug: string): Promise<string> {
  const id = await findVendorId(database, slug);
  if (id === undefined) throw new Problem(vendorProblems.unknown, "No vendor has that slug.");
  return id;
}
