import { appDto, type EventApp, eventApp, slugPattern } from "@ehr-marketplace/contracts";
import { findUnstorable } from "@ehr-marketplace/service-kit/http";
import { createValidator } from "../create-validator.ts";

export interface ParsedApp {
  app: EventApp;
  /** Where an EHR discovers the app's CDS Hooks services. Null in the list of subscriptions, whose apps have the fields of events. */
  cdsServicesUrl: string | null;
}

export type ParseApp = (value: unknown) => ParsedApp | { error: string };

const slug = { type: "string", pattern: slugPattern, minLength: 3, maxLength: 64 };

/**
 * Validates an app from the marketplace's catalog or from its list of subscriptions. Browsers are sent to the app's URLs, so http, which the
 * wire schema accepts on loopback addresses, is accepted in development only.
 */
export function createAppParser({ allowsHttp }: { allowsHttp: boolean }): ParseApp {
  const { cdsServicesUrl: optionalUrl } = appDto.properties;
  const validate = createValidator<EventApp & { cdsServicesUrl?: string | null }>({
    ...eventApp,
    properties: { ...eventApp.properties, slug, cdsServicesUrl: optionalUrl },
  });
  return (value) => {
    const result = validate(value);
    if ("error" in result) return result;
    const app = pickFields(result.value);
    const { cdsServicesUrl = null } = result.value;
    for (const [name, url] of [
      ["iconUrl", app.iconUrl],
      ["smartLaunchUrl", app.smartLaunchUrl],
      ["cdsServicesUrl", cdsServicesUrl],
    ] as const) {
      if (url === null) continue;
      // JSON Schema's `uri` format accepts URLs that browsers reject.
      if (!URL.canParse(url)) return { error: `/${name} is not a URL` };
      if (!allowsHttp && !url.startsWith("https://")) return { error: `/${name} must begin with https://` };
    }
    const unstorable = findUnstorable({ ...app, cdsServicesUrl }, "app");
    return unstorable === undefined ? { app, cdsServicesUrl } : { error: ` ${unstorable.detail}` };
  };
}

const pickFields = (app: EventApp): EventApp => ({
  id: app.id.toLowerCase(),
  slug: app.slug,
  name: app.name,
  iconUrl: app.iconUrl,
  category: app.category,
  extensionPoints: app.extensionPoints,
  smartLaunchUrl: app.smartLaunchUrl,
  fhirScopes: app.fhirScopes,
});
