import { type JsonObject, redact } from "@ehr-marketplace/config-schema";
import type { ClientAttempt, ClientStatus, InstallationDto } from "@ehr-marketplace/contracts";
import { scopesInForce } from "../apps/scopes-in-force.ts";
import { connectionOf } from "../clients/connection.ts";
import type { InstallationRow } from "./installation-store.ts";
import { secretsOf } from "./stored-config.ts";

/** The installation as members of the organisation see it: secrets are null. */
export function toInstallationDto(row: InstallationRow, config: JsonObject): InstallationDto {
  return {
    id: row.id,
    appId: row.app_id,
    appSlug: row.app_slug,
    name: row.name,
    iconUrl: row.icon_url,
    category: row.category,
    extensionPoints: row.extension_points,
    smartLaunchUrl: row.smart_launch_url,
    cdsServicesUrl: row.cds_services_url,
    fhirScopes: scopesInForce(row),
    status: row.status === "paused" ? "paused" : "active",
    subscriptionId: row.subscription_id,
    connection: connectionOfRow(row),
    config: redact(config, secretsOf(row)),
    installedAt: row.installed_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function connectionOfRow(row: InstallationRow): InstallationDto["connection"] {
  const {
    client_status,
    client_id: clientId,
    client_sha256: registeredSha256,
    client_attempt,
    client_reason: reason,
  } = row;
  if (client_status === null) return null;
  // Check constraints have the same values as the types.
  const [status, attempt] = [client_status as ClientStatus, client_attempt as ClientAttempt | null];
  return connectionOf({ status, clientId, registeredSha256, attempt, reason });
}
