import { isDeepStrictEqual } from "node:util";
import { type ImportedVendor, importedVendor, type VendorDto } from "@ehr-marketplace/contracts";
import { createLineValidator, type LineImport, type StoredLine } from "@ehr-marketplace/service-kit/http";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { type NewAuditEntry, recordAudits } from "../audit/record-audit.ts";
import { nextInstant } from "../events/event.ts";
import { toColumns, type VendorDeps } from "./put-vendor.ts";
import { vendorRecord } from "./vendor-record.ts";
import { insertVendors, lockVendors, updateVendors, type VendorRow } from "./vendor-store.ts";

interface ImportedLine {
  slug: string;
  columns: ReturnType<typeof toColumns>;
}

const validateLine = createLineValidator(importedVendor);

function toImportedLine({ slug, ...body }: ImportedVendor): ImportedLine {
  return { slug, columns: toColumns(body) };
}

/** Imports vendors with the same result as `putVendor` for each line. */
export function createVendorImport(deps: VendorDeps, by: RequestContext): LineImport<ImportedLine> {
  return {
    keyField: "slug",
    validate: (value) => toImportedLine(validateLine(value)),
    store: (lines) => storeLines(deps, by, lines),
  };
}

function storeLines({ database, clock }: VendorDeps, by: RequestContext, lines: ImportedLine[]): Promise<StoredLine[]> {
  return database.transaction().execute(async (transaction) => {
    const now = clock();
    const rows = lines.map(({ slug, columns }) => ({ id: uuid(), slug, ...columns, created_at: now, updated_at: now }));
    const inserted = new Set(await insertVendors(transaction, rows));
    const others = lines.flatMap(({ slug }) => (inserted.has(slug) ? [] : [slug]));
    const existing = new Map((await lockVendors(transaction, others)).map((row) => [row.slug, row]));

    const updated: VendorRow[] = [];
    const audits: NewAuditEntry[] = [];
    const record = (at: Date, earlier: VendorDto | null, vendor: VendorDto): void => {
      audits.push({
        by,
        role: "operator",
        at,
        onBehalfOf: `vendor:${vendor.slug}`,
        action: earlier === null ? "vendor.register" : "vendor.change",
        target: { kind: "vendor", id: vendor.slug },
        before: earlier,
        after: vendor,
      });
    };
    const results = lines.map(({ slug, columns }): StoredLine => {
      const before = existing.get(slug);
      if (before === undefined) {
        record(now, null, vendorRecord({ slug, ...columns, created_at: now, updated_at: now }));
        return { status: "created" };
      }
      const at = nextInstant(now, before.updated_at);
      const [earlier, row] = [vendorRecord(before), { ...before, ...columns, updated_at: at }];
      const vendor = vendorRecord(row);
      if (isDeepStrictEqual({ ...vendor, updatedAt: earlier.updatedAt }, earlier)) return { status: "unchanged" };
      updated.push(row);
      record(at, earlier, vendor);
      return { status: "updated" };
    });
    await updateVendors(transaction, updated);
    await recordAudits(transaction, audits);
    return results;
  });
}
