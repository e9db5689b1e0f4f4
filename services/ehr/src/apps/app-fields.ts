import type { EventApp } from "@ehr-marketplace/contracts";

/** What is kept of an app; whoever says more of it is heard for these only. */
export const appFields = (app: EventApp): EventApp => ({
  id: app.id.toLowerCase(),
  slug: app.slug,
  name: app.name,
  iconUrl: app.iconUrl,
  category: app.category,
  extensionPoints: app.extensionPoints,
  smartLaunchUrl: app.smartLaunchUrl,
  fhirScopes: app.fhirScopes,
});
