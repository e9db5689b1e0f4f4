import type { OrganisationDto, OrganisationProfile } from "@ehr-marketplace/contracts";
import type { OrganisationRow } from "./organisation-store.ts";

export function organisationRecord(row: Omit<OrganisationRow, "id" | "encrypted_secret">): OrganisationDto {
  return {
    alias: row.alias,
    displayName: row.display_name,
    callbackUrl: row.callback_url,
    callbackNetworks: row.callback_networks,
    timeZone: row.time_zone,
    kind: row.kind as OrganisationDto["kind"],
    vendorSlug: row.vendor_slug,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** What the organisation's own people may know: never the whole callback URL, which may have a path or a port that is the EHR's own. */
export const organisationProfile = (
  row: OrganisationRow,
  delivery: OrganisationProfile["delivery"],
): OrganisationProfile => ({
  alias: row.alias,
  displayName: row.display_name,
  kind: row.kind as OrganisationProfile["kind"],
  timeZone: row.time_zone,
  callbackHost: row.callback_url === null ? null : new URL(row.callback_url).hostname,
  delivery,
  createdAt: row.created_at.toISOString(),
});
