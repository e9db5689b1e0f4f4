import type { EventApp } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/test-kit";

/** Inserts apps as if the EHR had just fetched them from the marketplace's catalog, so that events install them at once. */
export async function insertKnownApps(ownerUrl: string, apps: EventApp[]): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    for (const app of apps) {
      await client.query(
        `insert into apps (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes,
           schema_known, fetched_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, true, now(), now())`,
        [
          app.slug,
          app.id,
          app.name,
          app.iconUrl,
          app.category,
          app.extensionPoints,
          app.smartLaunchUrl,
          app.fhirScopes,
        ],
      );
    }
  });
}
