import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { LaunchLogEntry } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import {
  dataOf,
  hilltop,
  install,
  type LaunchEhr,
  launchOf,
  member,
  riverside,
  setInstallationStatus,
  startLaunchEhr,
} from "./launches.test-support.ts";

interface Page {
  items: LaunchLogEntry[];
  next: string | null;
}

const many = 111;

describe("reading an app's launch log", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchEhr;
  let slug: string;
  let ids: string[];
  before(async () => {
    ehr = await startLaunchEhr(cleanUp);
    slug = await install(ehr.ownerUrl);
    // Over six years; groups of three share their time, so that only their ids order them. Launches of others lie in between.
    ids = await withClient(ehr.ownerUrl, async (client) => {
      const { rows } = await client.query<{ at: Date; id: string }>(
        `select date_trunc('milliseconds', now()) - nth / 3 * interval '60 days' - interval '1 minute' as at, gen_random_uuid() as id
         from generate_series(0, $1::int - 1) as nth`,
        [many],
      );
      const days = [...new Set(rows.map(({ at }) => at.toISOString().slice(0, 10)))];
      for (const day of days) await client.query("select prepare_launch_partitions($1::date)", [day]);
      for (const [alias, app] of [
        [riverside, slug],
        [hilltop, slug],
        [riverside, "another-app"],
      ])
        await client.query(
          `insert into launches
           select case when $3 = 'mine' then id else gen_random_uuid() end, $1, $2, 'smart', 'https://id.example', $3,
             gen_random_uuid(), gen_random_uuid(), at
           from unnest($4::timestamptz[], $5::uuid[]) as of (at, id)`,
          [
            alias,
            app,
            alias === riverside && app === slug ? "mine" : "another's",
            rows.map(({ at }) => at),
            rows.map(({ id }) => id),
          ],
        );
      const places = rows.map(({ at, id }) => `${at.toISOString()} ${id}`);
      return places
        .toSorted()
        .toReversed()
        .map((place) => place.split(" ")[1] ?? "");
    });
  });
  const read = (persona: Parameters<LaunchEhr["as"]>[0], of: string, query = "", alias = riverside) =>
    ehr.as(persona, `/app-installations/${of}/launches?${query}`, { headers: { "x-org-alias": alias } });
  const walk = async (limit: number): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: Page = await dataOf(
        await read("riverside-admin", slug, `limit=${limit}${next === "" ? "" : `&after=${next}`}`),
      );
      for (const entry of page.items) {
        assert.deepEqual(Object.keys(entry), ["launchId", "launchType", "user", "launchedAt"]);
        assert.equal(entry.user, "mine");
      }
      pages.push(page.items.map(({ launchId }) => launchId));
      ({ next } = page);
    }
    return pages;
  };

  for (const limit of [100, 7, 1_000]) {
    test(`returns every launch of the app once in pages of ${limit}, the newest first, over all years`, async () => {
      const pages = await walk(limit);
      assert.deepEqual(pages.flat(), ids);
      assert.ok(pages.slice(0, -1).every(({ length }) => length === limit));
      assert.ok((pages.at(-1)?.length ?? 0) > 0);
    });
  }

  test("returns 100 by default, and at most 1,000", async () => {
    const { items, next } = await dataOf<Page>(await read("riverside-admin", slug));
    assert.equal(items.length, 100);
    assert.ok(next !== null);
    assert.equal((await read("riverside-admin", slug, "limit=999999")).status, 200);
  });

  test("returns the latest launch first, with the user and without the patient", async () => {
    const app = await install(ehr.ownerUrl);
    const patientId = "0c5b8f4e-7d0e-4a59-9d5c-6f3a1c2b7e11";
    const first = await ehr.launch(app, { patientId, encounterId: patientId });
    const second = await ehr.launch(app, { launchType: "native", patientId }, "riverside-admin");
    const response = await read("riverside-admin", app);
    const text = await response.clone().text();
    assert.ok(!text.includes(patientId) && !text.includes(launchOf(first)));
    assert.deepEqual(await dataOf<Page>(response), {
      items: [
        { launchId: second.launchId, launchType: "native", user: "riverside-admin", launchedAt: second.launchedAt },
        { launchId: first.launchId, launchType: "smart", user: member, launchedAt: first.launchedAt },
      ],
      next: null,
    });
  });

  test("returns launches of a removed app, also after its installation is deleted", async () => {
    const app = await install(ehr.ownerUrl);
    await ehr.launch(app);
    await setInstallationStatus(ehr.ownerUrl, app, "removed");
    assert.equal((await dataOf<Page>(await read("riverside-admin", app))).items.length, 1);
    await withClient(ehr.ownerUrl, (client) => client.query("delete from installations where app_slug = $1", [app]));
    assert.equal((await dataOf<Page>(await read("riverside-admin", app))).items.length, 1);
  });

  test("returns an empty page for an app that was never launched, and 404 for one never installed", async () => {
    const app = await install(ehr.ownerUrl);
    assert.deepEqual(await dataOf<Page>(await read("riverside-admin", app)), { items: [], next: null });
    await assertFailure(await read("riverside-admin", "unheard-of"), 404);
    await assertFailure(await read("hilltop-admin", app, "", hilltop), 404);
  });

  test("allows admins for their organisation and operators for any; refuses others", async () => {
    assert.equal((await read("operator", slug)).status, 200);
    const { items } = await dataOf<Page>(await read("hilltop-admin", slug, "", hilltop));
    assert.ok(items.length > 0 && items.every(({ launchId, user }) => user === "another's" && !ids.includes(launchId)));
    await assertFailure(await read("hilltop-admin", slug), 403);
    for (const persona of [member, "billing", "ehr-service", "launch-redeemer", "northwind-developer"] as const)
      await assertFailure(await read(persona, slug), 403);
    await assertFailure(await read("two-practices", slug, "", hilltop), 403);
    await assertFailure(await read(null, slug), 401);
  });

  for (const [what, query] of [
    ["a limit of nothing", "limit=0"],
    ["a limit that is no number", "limit=many"],
    ["two limits", "limit=1&limit=2"],
    ["a cursor that is none", "after=first"],
    ["a cursor of no time", `after=${encodeCursor("soon", "0c5b8f4e-7d0e-4a59-9d5c-6f3a1c2b7e11")}`],
    ["a cursor of no id", `after=${encodeCursor("2026-01-01T00:00:00.000Z", "' or 1=1 --")}`],
  ] as const) {
    test(`400: ${what}`, async () => {
      await assertFailure(await read("riverside-admin", slug, query), 400);
    });
  }

  test("responds quickly to a cursor before the log or in the future", async () => {
    const id = "0c5b8f4e-7d0e-4a59-9d5c-6f3a1c2b7e11";
    const from = (time: string) => read("riverside-admin", slug, `limit=1&after=${encodeCursor(time, id)}`);
    assert.deepEqual((await dataOf<Page>(await from("0001-01-01T00:00:00.000Z"))).items, []);
    assert.equal((await dataOf<Page>(await from("9999-12-31T23:59:59.999Z"))).items[0]?.launchId, ids[0]);
  });
});
