import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { EventApp, InstallationDto, LaunchDto } from "@ehr-marketplace/contracts";
import {
  type Asking,
  askAt,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  connectTo,
  eventually,
  type RunningEhr,
  startCallers,
  startEhr,
  startMarketplace,
} from "@ehr-marketplace/tests/support";
import { type Fetching, fetchApp } from "../apps/fetch-app.ts";
import { createMarketplaceCatalog } from "../apps/marketplace-catalog.ts";
import type { DB } from "../database-schema.ts";
import { appCalled, eventOf, hilltop, riverside, secretOf, send } from "./events.test-support.ts";

const began = Date.now() - 3_600_000;
const ahead = (): number => Date.now() + 4 * 60_000;

/** The same slug, and nothing else the same. */
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

describe("the holder of one organisation's secret can't say for another what an app is", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let callers: Callers;
  let fetching: Fetching;
  before(async () => {
    const marketplace = await startMarketplace(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl);
    callers = await startCallers(cleanUp);
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    // The catalog is away from it, and is read when the test says so.
    ehr = await startEhr(cleanUp, serviceUrl, callers.environment);
    const catalog = createMarketplaceCatalog(`${marketplace.url}/api/v1`);
    fetching = { ...(await connectTo<DB>(cleanUp, serviceUrl)), catalog };
  });

  const tell = async (orgAlias: string, app: EventApp, at: number): Promise<void> => {
    const body = { ...eventOf({ what: "created", id: randomUUID(), at, orgAlias }), app };
    const answer = await send(ehr.url, { body, secret: secretOf(orgAlias) });
    assert.deepEqual(answer, { status: 200, message: "applied" });
  };
  const ask = async <T>(path: string, orgAlias: string, asking: Asking = {}): Promise<T> => {
    const persona = orgAlias === hilltop ? "hilltop-admin" : "riverside-admin";
    const answer = await askAt(`${ehr.url}/api/app-installations${path}`, callers.token(persona), asking);
    const { data, message } = (await answer.json()) as { data: T; message: string };
    assert.equal(answer.status, 200, message);
    return data;
  };
  let markers = 0;
  /** Once a later event of its own is shown, nothing is that was kept in memory before. */
  const listOf = async (orgAlias: string): Promise<InstallationDto[]> => {
    markers += 1;
    const marker = `marker-${markers}`;
    await tell(orgAlias, appCalled(marker), began);
    let list: InstallationDto[] = [];
    await eventually("the marker is shown", 5_000, async () => {
      list = await ask("", orgAlias);
      return list.some(({ appSlug }) => appSlug === marker);
    });
    return list.filter(({ appSlug }) => !appSlug.startsWith("marker-"));
  };
  const shownTo = async (orgAlias: string, slug: string): Promise<InstallationDto> =>
    (await listOf(orgAlias)).find(({ appSlug }) => appSlug === slug) ?? assert.fail(`${slug} is not installed`);
  /** All that its people are shown, and where they are sent. */
  const seenAtHilltop = async (slug: string) => {
    const list = await listOf(hilltop);
    const { launchType, launchUrl } = await ask<LaunchDto>(`/${slug}/launch`, hilltop, { body: {} });
    return { list, launchType, launchUrl: launchUrl?.replace(/launch=[^&]+/, "launch=…") ?? null };
  };
  const forge = async (slug: string): Promise<void> => {
    await tell(riverside, evil(slug), ahead());
    await tell(riverside, withoutLaunch(slug), ahead());
  };

  test("of one that the other has, before and after the catalog is read", async () => {
    const slug = "northwind-scribe";
    await tell(hilltop, { ...appCalled(slug), smartLaunchUrl: "https://scribe.example/launch" }, began);
    const told = await seenAtHilltop(slug);
    assert.equal(told.list[0]?.name, `The app ${slug}`);
    assert.match(told.launchUrl ?? "", /^https:\/\/scribe\.example\/launch\?/, "before the catalog is read, too");
    await forge(slug);
    assert.deepEqual(await seenAtHilltop(slug), told);

    await fetchApp(fetching, slug);
    const read = await seenAtHilltop(slug);
    assert.equal(read.list[0]?.name, "Northwind Scribe");
    await forge(slug);
    assert.deepEqual(await seenAtHilltop(slug), read);
    assert.equal(
      (await shownTo(riverside, slug)).name,
      "Northwind Scribe",
      "nor for itself, once the catalog has been read",
    );
    await fetchApp(fetching, slug);
    assert.deepEqual(await seenAtHilltop(slug), read, "and the catalog need not be read whole again");
  });

  test("of one that nobody has yet: who subscribes later sees what it was told itself, then what the catalog says", async () => {
    const slug = "cuffline";
    await forge(slug);
    await tell(hilltop, appCalled(slug), began);
    const shown = await shownTo(hilltop, slug);
    assert.deepEqual([shown.name, shown.smartLaunchUrl], [`The app ${slug}`, null]);
    await fetchApp(fetching, slug);
    const { name, iconUrl } = await shownTo(hilltop, slug);
    assert.doesNotMatch(`${name} ${iconUrl}`, /evil/i);
    assert.notEqual(name, `The app ${slug}`);
  });

  test("nor of one that the catalog doesn't have: it stays what each was told", async () => {
    const slug = "invented-by-somebody";
    await tell(hilltop, appCalled(slug), began);
    const told = await seenAtHilltop(slug);
    await forge(slug);
    await fetchApp(fetching, slug);
    await forge(slug);
    assert.deepEqual(await seenAtHilltop(slug), told);
    assert.equal((await shownTo(riverside, slug)).name, "Evil");
  });
});
