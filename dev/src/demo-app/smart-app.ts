import { demoApps } from "../demo-data/apps.ts";
import type { DemoApp } from "../demo-data/demo-app.ts";
import type { SmartApp } from "../identity-provider/index.ts";

/** Finds the app of the demo catalog that the demo app server implements. */
export function findDemoApp(demoAppUrl: string): DemoApp {
  const found = demoApps(demoAppUrl).find(({ smartLaunchUrl }) => smartLaunchUrl?.startsWith(`${demoAppUrl}/`));
  if (found === undefined) throw new Error(`no app of the demo catalog has a launch URL at ${demoAppUrl}`);
  return found;
}

/** The app's registration with the authorization server. */
export function smartAppOf(demoAppUrl: string): SmartApp {
  const { slug, name, fhirScopes } = findDemoApp(demoAppUrl);
  return { clientId: slug, name, appSlug: slug, redirectUri: `${demoAppUrl}/`, fhirScopes };
}
