import { backgroundAppSlug, demoApps } from "../demo-data/apps.ts";
import type { DemoApp } from "../demo-data/demo-app.ts";

function findApp(demoAppUrl: string, what: string, isFound: (app: DemoApp) => boolean): DemoApp {
  const found = demoApps(demoAppUrl).find(isFound);
  if (found === undefined) throw new Error(`no app of the demo catalog has ${what}`);
  return found;
}

/** Finds the app of the demo catalog that the demo app server implements. */
export const findDemoApp = (demoAppUrl: string): DemoApp =>
  findApp(
    demoAppUrl,
    `a launch URL at ${demoAppUrl}`,
    (app) => app.smartLaunchUrl?.startsWith(`${demoAppUrl}/`) === true,
  );

/** Finds the app whose background service the demo app server runs. */
export const findBackgroundApp = (demoAppUrl: string): DemoApp =>
  findApp(demoAppUrl, `the slug ${backgroundAppSlug}`, ({ slug }) => slug === backgroundAppSlug);
