import type { VendorDto } from "@ehr-marketplace/contracts";
import type { VendorRow } from "./vendor-store.ts";

export function vendorRecord(row: Omit<VendorRow, "id">): VendorDto {
  return {
    slug: row.slug,
    name: row.name,
    websiteUrl: row.website_url,
    supportEmail: row.support_email,
    securityContact: row.security_contact,
    commissionPercent: Number(row.commission_percent),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
