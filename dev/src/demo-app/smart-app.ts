import { demoApps } from "../demo-data/apps.ts";
import type { DemoApp } from "../demo-data/demo-app.ts";
import type { SmartApp } from "../identity-provider/index.ts";

/** The one app of the demo catalog that there really is. */
export function findDemoApp(demoAppUrl: string): DemoApp {
  const found = demoApps(demoAppUrl).find(({ smartLaunchUrl }) => smartLaunchUrl?.startsWith(`${demoAppUrl}/`));
  if (found === undefined) throw new Error(`no app of the demo catalog is launched at ${demoAppUrl}`);
  return found;
}

/** As it is registered with the authorization server. */
export function smartAppOf(demoAppUrl: string): SmartApp {
  const { slug, name, fhirScopes } = findDemoApp(demoAppUrl);
  return { clientId: slug, name, appSlug: slug, redirectUri: `${demoAppUrl}/`, fhirScopes };
}
