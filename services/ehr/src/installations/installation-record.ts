import type { InstallationDto } from "@ehr-marketplace/contracts";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { ConfigSecrets } from "../apps/config-secrets.ts";
import { type Config, withoutSecrets } from "./config-values.ts";
import { configOwner } from "./installation.ts";
import type { InstallationRow } from "./installation-store.ts";

export function openConfig(seal: Seal, row: { id: string; sealed_config: string | null }): Config {
  if (row.sealed_config === null) return {};
  return JSON.parse(seal.open(row.sealed_config, configOwner(row.id))) as Config;
}

export const secretsOf = (row: { config_secrets: string | null }): ConfigSecrets | null =>
  row.config_secrets === null ? null : (JSON.parse(row.config_secrets) as ConfigSecrets);

/** As everybody in the organisation may see it. */
export function installationRecord(row: InstallationRow, config: Config): InstallationDto {
  return {
    id: row.id,
    appId: row.app_id,
    appSlug: row.app_slug,
    name: row.name,
    iconUrl: row.icon_url,
    category: row.category,
    extensionPoints: row.extension_points,
    smartLaunchUrl: row.smart_launch_url,
    fhirScopes: row.fhir_scopes,
    status: row.status === "paused" ? "paused" : "active",
    subscriptionId: row.subscription_id,
    config: withoutSecrets(secretsOf(row), config),
    installedAt: row.installed_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
