import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, test } from "node:test";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { assertPrompt, cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import type { RunningEhr } from "@ehr-marketplace/tests/support/ehr";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import {
  change,
  configInClear,
  configShown,
  dataOf,
  hilltop,
  install,
  type Practice,
  putConfig,
  riverside,
  startPractice,
} from "./installations.test-support.ts";
import { loadInstallations } from "./read-installations.ts";

/** For a busy machine. Less than the time that installations are cached, after which each change would be visible. */
const visibleWithinMs = 20_000;

describe("an organisation's installations", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  before(async () => {
    practice = await startPractice(cleanUp);
    const { ownerUrl } = practice.database;
    for (const [slug, name] of [
      ["zeta", "alpha"],
      ["beta", "Álpha"],
      ["alpha", "Alpha"],
      ["gamma", "Zeta"],
    ] as const) {
      await install(ownerUrl, { slug, name, schema: null });
    }
    await install(ownerUrl, { slug: "paused-app", name: "Paused", status: "paused" });
    await install(ownerUrl, { slug: "removed-app", name: "Removed", status: "removed" });
    await install(ownerUrl, { slug: "theirs", name: "Theirs", orgAlias: hilltop });
    await install(ownerUrl, { slug: "gamma", name: "Zeta", orgAlias: hilltop });
  });
  const list = (request = {}): Promise<Response> => practice.as("riverside-member", "/app-installations", request);

  test("are listed by name and slug, including paused ones, without other organisations'", async () => {
    const all = await dataOf<InstallationDto[]>(await list());
    assert.deepEqual(
      all.map(({ appSlug, status }) => [appSlug, status]),
      [
        ["alpha", "active"],
        ["zeta", "active"],
        ["beta", "active"],
        ["paused-app", "paused"],
        ["gamma", "active"],
      ],
    );
    const theirs = await dataOf<InstallationDto[]>(await practice.as("hilltop-admin", "/app-installations"));
    assert.deepEqual(
      theirs.map(({ appSlug }) => appSlug),
      ["theirs", "gamma"],
    );
    assert.deepEqual(Object.keys(all[0] ?? {}), [
      "id",
      "appId",
      "appSlug",
      "name",
      "iconUrl",
      "category",
      "extensionPoints",
      "smartLaunchUrl",
      "cdsServicesUrl",
      "fhirScopes",
      "status",
      "subscriptionId",
      "connection",
      "config",
      "installedAt",
      "updatedAt",
    ]);
  });

  test("are returned singly as in the list, and 404 for unknown ones", async () => {
    for (const one of await dataOf<InstallationDto[]>(await list())) {
      assert.deepEqual(await dataOf(await practice.as("riverside-member", `/app-installations/${one.appSlug}`)), one);
    }
    for (const slug of ["removed-app", "theirs", "no-such-app", "A%20B", "__proto__", "%F0%9F%92%8A"]) {
      await assertFailure(await practice.as("riverside-member", `/app-installations/${slug}`), 404);
    }
  });

  test("are checked by slug: true also while paused, else false", async () => {
    for (const [slug, expected] of [
      ["alpha", true],
      ["paused-app", true],
      ["removed-app", false],
      ["theirs", false],
      ["no-such-app", false],
      ["__proto__", false],
    ] as const) {
      const response = await practice.as("riverside-member", `/app-installations/${slug}/installed`);
      assert.equal(await dataOf(response), expected, slug);
    }
  });

  test("are those of the organisation in the token or X-Org-Alias, for its members only", async () => {
    const named = (alias: string) => ({ headers: { "x-org-alias": alias } });
    for (const persona of ["two-practices", "ehr-service", "operator"] as const) {
      await assertFailure(await practice.as(persona, "/app-installations"), 400);
      for (const [alias, count] of [
        [riverside, 5],
        [hilltop, 2],
      ] as const) {
        const all = await dataOf<unknown[]>(await practice.as(persona, "/app-installations", named(alias)));
        assert.equal(all.length, count);
      }
    }
    await assertFailure(await practice.as("operator", "/app-installations", named("unheard-of")), 404);
    await assertFailure(await practice.as("riverside-admin", "/app-installations", named("unheard-of")), 403);
    for (const path of ["/app-installations", "/app-installations/gamma", "/app-installations/gamma/installed"]) {
      await assertFailure(await practice.as("riverside-admin", path, named(hilltop)), 403);
      await assertFailure(await practice.as("northwind-developer", path), 403);
      await assertFailure(await practice.as(null, path), 401);
    }
  });

  test("have an ETag per content coding, and 304 for a known one", async () => {
    const etags = new Set<string>();
    for (const coding of ["identity", "gzip", "br"]) {
      const response = await list({ headers: { "accept-encoding": coding } });
      assert.equal(response.headers.get("cache-control"), "private, no-cache");
      assert.equal(response.headers.get("vary"), "authorization, x-org-alias, origin, accept-encoding");
      assert.equal(response.headers.get("content-encoding"), coding === "identity" ? null : coding);
      assert.equal((await dataOf<unknown[]>(response)).length, 5);
      const etag = response.headers.get("etag") ?? "";
      const again = await list({ headers: { "accept-encoding": coding, "if-none-match": etag } });
      assert.equal(again.status, 304);
      assert.equal(await again.text(), "");
      etags.add(etag);
    }
    assert.equal(etags.size, 3);
    const one = await practice.as("riverside-member", "/app-installations/alpha/installed");
    assert.equal(one.headers.get("cache-control"), "no-store");
  });
});

describe("the cache follows every change in every process", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let processes: RunningEhr[];
  before(async () => {
    practice = await startPractice(cleanUp);
    processes = [practice.ehr, await practice.startAnother()];
  });
  const isInstalled = async (slug: string, at: RunningEhr): Promise<boolean> =>
    dataOf(await practice.as("riverside-member", `/app-installations/${slug}/installed`, { at }));
  const seenByAll = (what: string, check: (at: RunningEhr) => Promise<boolean>): Promise<void> =>
    eventually(what, visibleWithinMs, async () => (await Promise.all(processes.map(check))).every(Boolean));

  test("shows installed, renamed and removed apps everywhere within a second", async () => {
    const { ownerUrl } = practice.database;
    let nth = 0;
    let slug = "";
    const installNext = async (): Promise<void> => {
      nth += 1;
      slug = `round-${nth}`;
      await Promise.all(processes.map((at) => isInstalled(slug, at)));
      await install(ownerUrl, { slug, schema: null });
    };
    const installed = (): Promise<void> => seenByAll("it is installed", (at) => isInstalled(slug, at));
    await assertPrompt(1_000, installed, installNext);

    const rename = async (): Promise<void> => {
      nth += 1;
      await change(ownerUrl, "update apps set name = $2 where slug = $1", [slug, `Renamed ${nth}`]);
    };
    const renamed = (): Promise<void> =>
      seenByAll("it is renamed", async (at) => {
        const response = await practice.as("riverside-member", `/app-installations/${slug}`, { at });
        return (await dataOf<InstallationDto>(response)).name === `Renamed ${nth}`;
      });
    await assertPrompt(1_000, renamed, rename);

    const removeAnother = async (): Promise<void> => {
      await installNext();
      await installed();
      const removal = "update installations set status = 'removed', removed_at = now() where app_slug = $1";
      await change(ownerUrl, removal, [slug]);
    };
    const removed = (): Promise<void> => seenByAll("it is removed", async (at) => !(await isInstalled(slug, at)));
    await assertPrompt(1_000, removed, removeAnother);
  });

  test("shows where an app's CDS Hooks services are discovered, and null if it has none", async () => {
    const { ownerUrl } = practice.database;
    const slug = await install(ownerUrl, { schema: null });
    const shown = async (at: RunningEhr): Promise<string | null> => {
      const response = await practice.as("riverside-member", `/app-installations/${slug}`, { at });
      return (await dataOf<InstallationDto>(response)).cdsServicesUrl;
    };
    await seenByAll("it is installed", (at) => isInstalled(slug, at));
    for (const at of processes) assert.equal(await shown(at), null);
    for (const url of ["https://app.example/cds-services", "https://app.example/v2/cds-services", null]) {
      await change(ownerUrl, "update apps set cds_services_url = $2 where slug = $1", [slug, url]);
      await seenByAll(`it is ${url}`, async (at) => (await shown(at)) === url);
    }
    const unusable = change(ownerUrl, "update apps set cds_services_url = 'http://app.example' where slug = $1", [
      slug,
    ]);
    await assert.rejects(unusable, /cds_services_url_is_https/);
  });

  test("returns a new configuration in the next response of the same process, and soon in others", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: null });
    for (let round = 0; round < 20; round += 1) {
      await dataOf(await putConfig(practice, slug, { round }));
      assert.deepEqual(await configShown(practice, slug), { round });
    }
    await seenByAll("it is seen", async (at) => {
      const response = await practice.as("riverside-member", `/app-installations/${slug}`, { at });
      return (await dataOf<InstallationDto>(response)).config["round"] === 19;
    });
  });

  test("misses no change while the listener reconnects", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: null });
    await seenByAll("it is installed", (at) => isInstalled(slug, at));
    await withClient(practice.database.ownerUrl, async (client) => {
      // The listeners are disconnected and the row is changed in one transaction, so that no notification reaches them.
      await client.query("begin");
      await client.query("update installations set status = 'removed', removed_at = now() where app_slug = $1", [slug]);
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%listener'",
      );
      await client.query("commit");
    });
    await eventually("it is removed everywhere", 30_000, async () =>
      (await Promise.all(processes.map((at) => isInstalled(slug, at)))).every((installed) => !installed),
    );
  });

  test("serves cached values while the database is unavailable, and 503 for others", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: null });
    await seenByAll("it is installed", (at) => isInstalled(slug, at));
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
    const name = new URL(practice.database.ownerUrl).pathname.slice(1);
    await withClient(new URL("/postgres", practice.database.ownerUrl).href, async (client) => {
      await client.query(`alter database ${name} connection limit 0`);
      await client.query(cut, [name]);
      try {
        assert.equal(await isInstalled(slug, practice.ehr), true);
        await assertFailure(await practice.as("hilltop-admin", "/app-installations"), 503);
      } finally {
        await client.query(`alter database ${name} connection limit -1`);
      }
    });
    await eventually("it is back", 30_000, async () => {
      const response = await practice.as("hilltop-admin", "/app-installations");
      return response.status === 200;
    });
  });
});

describe("a configuration that can't be decrypted", () => {
  const cleanUp = cleanUpAfter();
  const schema = { type: "object", properties: { apiKey: { type: "string", writeOnly: true } } };
  const config = { apiKey: "a-practice's-key", open: 1 };
  const intact = "intact";
  let practice: Practice;
  before(async () => {
    practice = await startPractice(cleanUp);
    await install(practice.database.ownerUrl, { slug: intact, schema });
    await dataOf(await putConfig(practice, intact, config));
  });

  for (const [why, encrypted] of [
    ["a key that is missing", "concat('9', substring(encrypted_config from 2))"],
    ["another row's", "(select encrypted_config from installations where app_slug = 'intact')"],
  ] as const) {
    test(`because of ${why}, is shown as empty, doesn't affect others, and can be replaced`, async () => {
      const { ownerUrl } = practice.database;
      const slug = await install(ownerUrl, { schema });
      await dataOf(await putConfig(practice, slug, config));
      await change(ownerUrl, `update installations set encrypted_config = ${encrypted} where app_slug = $1`, [slug]);

      await eventually("it is empty", 30_000, async () => !("open" in (await configShown(practice, slug))));
      const list = await dataOf<InstallationDto[]>(await practice.as("riverside-member", "/app-installations"));
      const shown = new Map(list.map((each) => [each.appSlug, each.config]));
      assert.deepEqual([shown.get(slug), shown.get(intact)], [{}, { apiKey: null, open: 1 }]);
      const installed = await practice.as("riverside-member", `/app-installations/${slug}/installed`);
      assert.equal(await dataOf(installed), true);
      const inClear = await practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
        headers: { "x-org-alias": riverside },
      });
      await assertFailure(inClear, 500);

      await dataOf(await putConfig(practice, slug, { apiKey: null, open: 2 }));
      assert.deepEqual(await configInClear(practice, slug), { open: 2 });
    });
  }

  test("is logged without its content", async () => {
    const slug = await install(practice.database.ownerUrl, { orgAlias: hilltop, schema });
    const request = { method: "PUT", body: config, headers: { "x-org-alias": hilltop } };
    await dataOf(await practice.as("operator", `/app-installations/${slug}/config`, request));
    const { database } = await connectAsService<DB>(cleanUp, practice.database.serviceUrl);
    const lines: string[] = [];
    const logger = createLogger({ service: "test", level: "info" }, { write: (line) => void lines.push(line) });
    const otherKey = createEncryption(parseEncryptionKeys(`1:${randomBytes(32).toString("base64")}`));
    const loaded = await loadInstallations(database, otherKey, hilltop, logger);
    assert.deepEqual([loaded.has(slug), loaded.has("no-such-app")], [true, false]);
    assert.deepEqual(lines, [], "whether an app is installed is known without opening any configuration");
    assert.match((await loaded.list).plain.body.toString(), /"config":\{\}/);
    const [line = "", ...others] = lines;
    assert.deepEqual(others, []);
    const { level, orgAlias, appSlug } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([level, orgAlias, appSlug], ["error", hilltop, slug]);
    assert.doesNotMatch(line, /a-practice|apiKey/);
  });
});

test("a load that began before a change resolves for its waiting callers, and isn't cached", async (t) => {
  const practice = await startPractice(cleanUpAfter(t), patientLimits);
  const { ownerUrl } = practice.database;
  const slug = await install(ownerUrl, { schema: null });
  const isInstalled = async (): Promise<boolean> =>
    dataOf(await practice.as("riverside-member", `/app-installations/${slug}/installed`));
  // Blocks the query in the middle, after it has read the old state.
  await change(
    ownerUrl,
    `create function wait_at_gate() returns boolean language plpgsql as $$ begin
       perform pg_advisory_lock_shared(1); perform pg_advisory_unlock_shared(1); return true; end $$;
     alter table apps rename to all_apps;
     create view apps as select * from all_apps where wait_at_gate();
     grant select on apps to ehr_service`,
  );
  await withClient(ownerUrl, async (client) => {
    // Once it listens, it drops everything one time.
    await eventually("it listens", 30_000, async () => {
      const { rowCount } = await client.query(
        `select from pg_stat_activity
         where datname = current_database() and application_name like '% listener' and state = 'idle' and query <> ''`,
      );
      return rowCount === 1;
    });
    await client.query("select pg_advisory_lock(1)");
    const early = isInstalled();
    await eventually("it waits", 30_000, async () => {
      const { rowCount } = await client.query("select from pg_locks where locktype = 'advisory' and not granted");
      return rowCount === 1;
    });
    await client.query("update installations set status = 'removed', removed_at = now() where app_slug = $1", [slug]);
    // Not awaited one by one: requests before the notification share the early load, and wait with it.
    let seen = false;
    const others: Promise<void>[] = [];
    await eventually("others see it", visibleWithinMs, () => {
      others.push(isInstalled().then((installed) => void (seen ||= !installed)));
      return seen;
    });
    await client.query("select pg_advisory_unlock(1)");
    assert.equal(await early, true, "it is as old as its beginning");
    await Promise.all(others);
    assert.equal(await isInstalled(), false);
  });
});
