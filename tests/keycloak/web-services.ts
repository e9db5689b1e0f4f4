import { freePort } from "@ehr-marketplace/dev/free-port";
import { type CleanUp, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser } from "playwright-core";
import { openBrowserOf } from "./web-browser.ts";
import { importWebRealm, type Person, type WebRealm } from "./web-realm.ts";

/** What practices use, with Keycloak for people and for the EHR service, and a browser. */
export interface WebServices {
  realm: WebRealm;
  marketplace: RunningMarketplace;
  ehr: RunningEhr;
  web: RunningWeb;
  chromium: Browser;
  /** Lets the access tokens of all sessions expire, as if time had passed: the next request of each refreshes them. */
  expireTokens(): Promise<void>;
}

/** Imports the realm by the guide's commands, and starts both APIs, the worker and the web with the settings that it describes. */
export async function startWebServices(cleanUp: CleanUp, people: Person[]): Promise<WebServices> {
  const port = await freePort();
  const realm = await importWebRealm(`http://127.0.0.1:${port}`);
  for (const person of people) await realm.createPerson(person);
  const { tokenEnvironment } = realm;
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const marketplace = await startMarketplace(cleanUp, serviceUrl, tokenEnvironment);
  const ehr = await startEhr(cleanUp, (await cloneDatabase(cleanUp, "ehr")).serviceUrl, {
    ...tokenEnvironment,
    ...realm.ehrEnvironment,
    MARKETPLACE_URL: `${marketplace.url}/api/v1`,
  });
  await withClient(ownerUrl, (client) => client.query("update organisations set callback_url = $1", [ehr.url]));
  await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } });
  const web = await startWeb(cleanUp, {
    port,
    marketplaceUrl: marketplace.url,
    ehrUrl: ehr.url,
    environment: { ...tokenEnvironment, ...realm.webEnvironment },
  });
  const chromium = await launchChromium(cleanUp);
  await warmUp(chromium, web, people);
  const expireTokens = async (): Promise<void> => {
    const change = "update web.sessions set access_expires_at = now()";
    await withClient(web.database.ownerUrl, (client) => client.query(change));
  };
  return { realm, marketplace, ehr, web, chromium, expireTokens };
}

/** Keycloak's first requests take seconds on a busy machine, and the web waits for 5. */
async function warmUp(chromium: Browser, web: RunningWeb, [first]: Person[]): Promise<void> {
  if (first === undefined) return;
  const browser = await openBrowserOf(chromium, web, first);
  await browser.signIn().catch(() => undefined);
  await browser.close();
}
