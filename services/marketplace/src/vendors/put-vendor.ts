import { isDeepStrictEqual } from "node:util";
import type { PutVendorBody, VendorDto } from "@ehr-marketplace/contracts";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { vendorRecord } from "./vendor-record.ts";
import { insertVendor, lockVendor, updateVendor } from "./vendor-store.ts";

export interface VendorDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

/** Throws a problem for values that the schema can't refuse. */
export function toColumns(input: PutVendorBody) {
  const { commissionPercent = 0 } = input;
  if (Number(commissionPercent.toFixed(2)) !== commissionPercent) {
    throw invalidRequest("/body/commissionPercent", "must have at most two decimals");
  }
  return {
    name: input.name,
    website_url: input.websiteUrl ?? null,
    support_email: input.supportEmail ?? null,
    security_contact: input.securityContact ?? null,
    commission_percent: commissionPercent.toFixed(2),
  };
}

/** Registers or replaces a vendor. Its apps show the new name and site at once. */
export async function putVendor(
  { database, clock }: VendorDeps,
  by: RequestContext,
  slug: string,
  input: PutVendorBody,
): Promise<{ created: boolean; vendor: VendorDto }> {
  const columns = toColumns(input);
  return database.transaction().execute(async (transaction) => {
    const now = clock();
    const row = { id: uuid(), slug, ...columns, created_at: now, updated_at: now };
    const created = await insertVendor(transaction, row);
    const before = created ? undefined : await lockVendor(transaction, slug);
    const earlier = before === undefined ? null : vendorRecord(before);
    const at = before === undefined ? now : nextInstant(now, before.updated_at);
    const vendor = vendorRecord({ ...row, created_at: before?.created_at ?? now, updated_at: at });
    if (earlier !== null && isDeepStrictEqual({ ...vendor, updatedAt: earlier.updatedAt }, earlier)) {
      return { created, vendor: earlier };
    }
    if (before !== undefined) await updateVendor(transaction, before.id, { ...columns, updated_at: at });
    await recordAudit(transaction, {
      by,
      role: "operator",
      at,
      onBehalfOf: `vendor:${slug}`,
      action: created ? "vendor.register" : "vendor.change",
      target: { kind: "vendor", id: slug },
      before: earlier,
      after: vendor,
    });
    return { created, vendor };
  });
}
