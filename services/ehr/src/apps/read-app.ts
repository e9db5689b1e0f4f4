import { type EventApp, eventApp, slugPattern } from "@ehr-marketplace/contracts";
import { wireReader } from "../wire-validation.ts";

export type ReadApp = (value: unknown) => { app: EventApp } | { wrong: string };

const slug = { type: "string", pattern: slugPattern, minLength: 3, maxLength: 64 };

/**
 * Validates an app as the marketplace describes it, in its catalog and in its list of subscriptions. Browsers are sent to its URLs: http, which
 * the wire schema admits on loopback addresses, is for development only.
 */
export function createAppReader({ allowsHttp }: { allowsHttp: boolean }): ReadApp {
  const read = wireReader<EventApp>({ ...eventApp, properties: { ...eventApp.properties, slug } });
  return (value) => {
    const result = read(value);
    if ("wrong" in result) return result;
    const app = pickFields(result.read);
    for (const [name, url] of [
      ["iconUrl", app.iconUrl],
      ["smartLaunchUrl", app.smartLaunchUrl],
    ] as const) {
      if (url === null) continue;
      // JSON Schema's format accepts URLs that browsers refuse.
      if (!URL.canParse(url)) return { wrong: `/${name} is not a URL` };
      if (!allowsHttp && !url.startsWith("https://")) return { wrong: `/${name} must begin with https://` };
    }
    // PostgreSQL stores no NUL.
    return JSON.stringify(app).includes("\\u0000") ? { wrong: " contains a NUL character" } : { app };
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
