import type { OrganisationDto } from "@ehr-marketplace/contracts";
import type { OrganisationRow } from "./organisation-store.ts";

export function organisationRecord(row: Omit<OrganisationRow, "id" | "encrypted_secret">): OrganisationDto {
  return {
    alias: row.alias,
    displayName: row.display_name,
    callbackUrl: row.callback_url,
    callbackNetworks: row.callback_networks,
    kind: row.kind as OrganisationDto["kind"],
    vendorSlug: row.vendor_slug,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
