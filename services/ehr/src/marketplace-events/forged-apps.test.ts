import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { EventApp, InstallationDto, LaunchDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type Callers, fetchCallers, type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
import { buildApp, eventOf, hilltop, riverside, secretOf, send } from "./events.test-support.ts";

const began = Date.now() - 3_600_000;
const ahead = (): number => Date.now() + 4 * 60_000;

/** A forged app with the same slug and other fields. */
const evil = (slug: string): EventApp => ({
  id: randomUUID(),
  slug,
  name: "Evil",
  iconUrl: "https://evil.example/icon.svg",
  category: "EVIL",
  extensionPoints: ["everywhere"],
  smartLaunchUrl: "https://evil.example/launch",
  fhirScopes: "launch system/*.cruds",
});
const withoutLaunch = (slug: string): EventApp => ({ ...evil(slug), extensionPoints: [], smartLaunchUrl: null });

describe("the holder of an organisation's signing secret can't change an app's fields", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let callers: Callers;
  let catalog: Catalog;
  before(async () => {
    catalog = await startCatalog(cleanUp);
    callers = await fetchCallers();
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    ehr = await startEhr(cleanUp, serviceUrl, { ...callers.environment, MARKETPLACE_URL: catalog.url });
  });

  const deliver = async (orgAlias: string, app: EventApp, at: number): Promise<void> => {
    const body = { ...eventOf({ what: "created", id: randomUUID(), at, orgAlias }), app };
    const response = await send(ehr.url, { body, secret: secretOf(orgAlias) });
    assert.deepEqual(response, { status: 200, message: "applied" });
  };
  const forge = async (slug: string, orgAlias = riverside): Promise<void> => {
    await deliver(orgAlias, evil(slug), ahead());
    await deliver(orgAlias, withoutLaunch(slug), ahead());
  };
  const request = (path: string, orgAlias: string, options: RequestOptions = {}): Promise<Response> => {
    const persona = orgAlias === hilltop ? "hilltop-admin" : "riverside-admin";
    return sendRequest(`${ehr.url}/api/app-installations${path}`, callers.token(persona), options);
  };
  const data = async <T>(response: Response): Promise<T> => {
    const { data: given, message } = (await response.json()) as { data: T; message: string };
    assert.equal(response.status, 200, message);
    return given;
  };
  /** All responses about an app and its launch URL, without the fields that depend on the subscription. */
  const seen = async (slug: string, orgAlias: string) => {
    const shown = await data<InstallationDto>(await request(`/${slug}`, orgAlias));
    const { subscriptionId: _id, updatedAt: _at, ...app } = shown;
    const { launchType, launchUrl } = await data<LaunchDto>(await request(`/${slug}/launch`, orgAlias, { body: {} }));
    return { app, launchType, launchUrl: launchUrl?.replace(/launch=[^&]+/, "launch=…") ?? null };
  };

  test("of an installed app, neither for others nor for that organisation", async () => {
    const slug = "northwind-scribe";
    for (const orgAlias of [hilltop, riverside]) {
      await deliver(orgAlias, buildApp(slug), began);
      await eventually("it is installed", 15_000, async () => (await request(`/${slug}`, orgAlias)).status === 200);
      await eventually("its client is an operator's task", 15_000, async () => {
        return typeof (await seen(slug, orgAlias)).app.connection?.reason === "string";
      });
      const earlier = await seen(slug, orgAlias);
      assert.equal(earlier.app.name, "Northwind Scribe");
      await forge(slug);
      await forge(slug, orgAlias);
      assert.deepEqual(await seen(slug, orgAlias), earlier);
    }
  });

  test("of an app that isn't installed yet, also while the marketplace can't be reached", async () => {
    const slug = "cuffline";
    catalog.setMode("shut");
    await forge(slug);
    await deliver(hilltop, buildApp(slug), began);
    for (const orgAlias of [riverside, hilltop]) {
      await assertFailure(await request(`/${slug}/launch`, orgAlias, { body: {} }), 503);
      await assertFailure(await request(`/${slug}`, orgAlias), 404);
      assert.deepEqual(
        (await data<InstallationDto[]>(await request("", orgAlias))).filter(({ appSlug }) => appSlug === slug),
        [],
      );
    }
    catalog.setMode("open");
    for (const orgAlias of [riverside, hilltop]) {
      await eventually("it is confirmed", 30_000, async () => (await request(`/${slug}`, orgAlias)).status === 200);
      assert.doesNotMatch(JSON.stringify(await seen(slug, orgAlias)), /evil/i);
    }
  });

  test("of an app that the catalog doesn't have: it is quarantined for every organisation, and can't be launched", async () => {
    const slug = "invented-by-somebody";
    await forge(slug);
    await deliver(hilltop, evil(slug), began);
    for (const orgAlias of [riverside, hilltop]) {
      assert.equal(await data(await request(`/${slug}/installed`, orgAlias)), false);
      await assertFailure(await request(`/${slug}`, orgAlias), 404);
      await assertFailure(await request(`/${slug}/launch`, orgAlias, { body: {} }), 404);
      await assertFailure(await request(`/${slug}/config`, orgAlias, { method: "PUT", body: {} }), 404);
      assert.doesNotMatch(JSON.stringify(await data(await request("", orgAlias))), /evil/i);
    }
  });
});
