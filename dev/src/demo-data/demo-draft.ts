import type { ListingDraft } from "@ehr-marketplace/contracts";
import type { DemoApp } from "./demo-app.ts";
import { scopePurposesOf } from "./scope-purposes.ts";

type Oauth = NonNullable<ListingDraft["oauth"]>;

/** An app that is launched is a public client; one that runs in the background has keys of its own. */
function oauthOf({ smartLaunchUrl, jwksUri, fhirScopes }: DemoApp, site: string): Oauth {
  const usesSystemScopes = fhirScopes.includes("system/");
  const launch = smartLaunchUrl === null ? {} : { redirectUris: [new URL("./", smartLaunchUrl).href] };
  if (!usesSystemScopes) return { type: "PUBLIC", ...launch };
  const grants = smartLaunchUrl === null ? [] : ["authorization_code"];
  return {
    type: "ASYMMETRIC",
    ...launch,
    jwksUri: jwksUri ?? `${site}/jwks.json`,
    grantTypes: [...grants, "client_credentials"],
  };
}

/** The listing of a demo app as its vendor writes it, without the files. */
export function draftOf(app: DemoApp, website: string): ListingDraft {
  const site = `${website}/${app.slug}`;
  const usesHooks = app.extensionPoints.some((point) => point.startsWith("cds:"));
  return {
    name: app.name,
    summary: app.summary,
    description: app.description,
    category: app.category,
    version: app.version,
    releaseNotes: "Corrections and small improvements.",
    audience: app.audience,
    extensionPoints: app.extensionPoints,
    ...(app.smartLaunchUrl === null ? {} : { smartLaunchUrl: app.smartLaunchUrl }),
    ...(usesHooks ? { cdsServicesUrl: `${site}/cds-services` } : {}),
    fhirScopes: app.fhirScopes,
    scopePurposes: scopePurposesOf(app.slug, app.fhirScopes),
    oauth: oauthOf(app, site),
    websiteUrl: site,
    supportUrl: `${site}/support`,
    privacyPolicyUrl: `${website}/privacy`,
    termsUrl: `${website}/terms`,
    ...(app.configSchema === null ? {} : { configSchema: app.configSchema }),
    plans: app.plans,
  };
}
