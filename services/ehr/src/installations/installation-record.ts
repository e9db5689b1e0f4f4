import { type JsonObject, redact } from "@ehr-marketplace/config-schema";
import type { EventApp, InstallationDto } from "@ehr-marketplace/contracts";
import type { InstallationRow } from "./installation-store.ts";
import { secretsOf } from "./stored-config.ts";

/** What the catalog says of its app; until that has been read, what the organisation was told. */
function appOf(row: InstallationRow): Omit<EventApp, "slug"> {
  if (!row.schema_known) return row.app_as_told as unknown as EventApp;
  return {
    id: row.app_id,
    name: row.name,
    iconUrl: row.icon_url,
    category: row.category,
    extensionPoints: row.extension_points,
    smartLaunchUrl: row.smart_launch_url,
    fhirScopes: row.fhir_scopes,
  };
}

/** As everybody in the organisation may see it. */
export function installationRecord(row: InstallationRow, config: JsonObject): InstallationDto {
  const app = appOf(row);
  return {
    id: row.id,
    appId: app.id,
    appSlug: row.app_slug,
    name: app.name,
    iconUrl: app.iconUrl,
    category: app.category,
    extensionPoints: app.extensionPoints,
    smartLaunchUrl: app.smartLaunchUrl,
    fhirScopes: app.fhirScopes,
    status: row.status === "paused" ? "paused" : "active",
    subscriptionId: row.subscription_id,
    config: redact(config, secretsOf(row)),
    installedAt: row.installed_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
