import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { type AuditEntry, ehrAuditEntry } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import {
  change,
  configInClear,
  install,
  type Practice,
  putConfig,
  riverside,
  startPractice,
} from "../installations/installations.test-support.ts";

const schema = {
  type: "object",
  properties: { apiKey: { type: "string", writeOnly: true }, language: { type: "string" } },
};

describe("the audit log", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let slug: string;
  before(async () => {
    practice = await startPractice(cleanUp);
    slug = await install(practice.database.ownerUrl, { schema });
    await change(
      practice.database.ownerUrl,
      "update apps set smart_launch_url = 'https://app.example/launch' where slug = $1",
      [slug],
    );
  });
  const all = async (): Promise<AuditEntry[]> => {
    const response = await practice.as("operator", "/admin/audit?limit=1000");
    return ((await response.json()) as { data: { items: AuditEntry[] } }).data.items;
  };
  /** The entries that the work adds, the oldest first. */
  const added = async (work: () => Promise<Response>): Promise<{ entries: AuditEntry[]; response: Response }> => {
    const earlier = new Set((await all()).map(({ id }) => id));
    const response = await work();
    const entries = (await all()).filter(({ id }) => !earlier.has(id)).toReversed();
    for (const { requestId } of entries) assert.equal(requestId, response.headers.get("x-request-id"));
    return { entries, response };
  };
  const summary = ({ actor, onBehalfOf, action, target, before: earlier, after }: AuditEntry): unknown[] => [
    `${actor.subject} as ${actor.role}`,
    onBehalfOf,
    action,
    `${target.kind} ${target.id}`,
    earlier,
    after,
  ];
  const launch = async (): Promise<{ launch: string; launchId: string; patientId: string }> => {
    const patientId = randomUUID();
    const response = await practice.as("riverside-member", `/app-installations/${slug}/launch`, {
      body: { patientId },
    });
    const { data } = (await response.json()) as { data: { launchUrl: string; launchId: string } };
    return { launch: new URL(data.launchUrl).searchParams.get("launch") ?? "", launchId: data.launchId, patientId };
  };
  const redeem = (body: object): Promise<Response> =>
    practice.as("launch-redeemer", "/internal/launch-contexts/consume", {
      body: { orgAlias: riverside, appSlug: slug, user: "riverside-member", ...body },
    });

  test("records each stored configuration with the keys that the schema names", async () => {
    const config = { apiKey: "needle-key", language: "en", "needle-of-our-own": 1 };
    const { entries } = await added(() => putConfig(practice, slug, config));
    const who = ["riverside-admin as org-admin", riverside, "installation.configure", `installation ${slug}`];
    assert.deepEqual(entries.map(summary), [
      [...who, { keys: [], otherKeys: 0 }, { keys: ["apiKey", "language"], otherKeys: 1 }],
    ]);
    const { action, target } = ehrAuditEntry.properties;
    const examples = [action, target.properties.kind].map(
      (documented) => (documented as { examples?: string[] }).examples?.[0],
    );
    assert.deepEqual(examples, [entries[0]?.action, entries[0]?.target.kind]);
    const [next] = (await added(() => putConfig(practice, slug, { apiKey: null }))).entries;
    assert.deepEqual(next?.before, { keys: ["apiKey", "language"], otherKeys: 1 });
    assert.deepEqual(next?.after, { keys: ["apiKey"], otherKeys: 0 });
  });

  test("records each read of a decrypted configuration", async () => {
    const { entries } = await added(() =>
      practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
        headers: { "x-org-alias": riverside },
      }),
    );
    assert.deepEqual(entries.map(summary), [
      ["ehr-service as ehr-service", riverside, "installation.read-config", `installation ${slug}`, null, null],
    ]);
  });

  test("records each redemption of a launch, granted or refused", async () => {
    const { launch: good, launchId } = await launch();
    const { launch: burnt, launchId: burntId } = await launch();
    const about = ["launch-redeemer as launch-redeemer", riverside, "launch-context.redeem", `app ${slug}`, null];
    for (const [body, status, after] of [
      [{ launch: good }, 200, { outcome: "granted", launchId }],
      [{ launch: good }, 410, { outcome: "refused", launchId: null }],
      [{ launch: burnt, user: "somebody-else" }, 410, { outcome: "refused", launchId: burntId }],
      [{ launch: "needle-unknown" }, 410, { outcome: "refused", launchId: null }],
    ] as const) {
      const { entries, response } = await added(() => redeem(body));
      assert.equal(response.status, status);
      assert.deepEqual(entries.map(summary), [[...about, after]]);
    }
  });

  test("records each secret that is set, also the same one again", async () => {
    const put = (secret: string): Promise<Response> =>
      practice.as("operator", "/admin/organisations/audited-clinic/secret", { method: "PUT", body: { secret } });
    const about = ["operator as operator", "audited-clinic", "organisation.put-secret", "organisation audited-clinic"];
    const [created] = (await added(() => put("needle-secret-one"))).entries.map(summary);
    assert.deepEqual(created, [...about, null, { secretChanged: true, previousUntil: null }]);
    const [changed] = (await added(() => put("needle-secret-two"))).entries;
    const { previousUntil, ...rest } = (changed?.after ?? {}) as Record<string, unknown>;
    assert.deepEqual(rest, { secretChanged: true });
    assert.match(String(previousUntil), /^\d{4}-.*Z$/);
    const [same] = (await added(() => put("needle-secret-two"))).entries.map(summary);
    assert.deepEqual(same, [...about, { previousUntil }, { secretChanged: false, previousUntil }]);
  });

  test("records nothing for requests that are refused before they change or reveal anything", async () => {
    const { entries } = await added(async () => {
      await assertFailure(await putConfig(practice, slug, { language: 5 }), 400);
      await assertFailure(await putConfig(practice, "no-such-app", {}), 404);
      await assertFailure(await putConfig(practice, slug, {}, "riverside-member"), 403);
      await assertFailure(await redeem({ launch: "" }), 400);
      const nowhere = "/internal/app-installations/no-such-app/config";
      await assertFailure(await practice.as("ehr-service", nowhere, { headers: { "x-org-alias": riverside } }), 404);
      return practice.as("operator", "/admin/organisations/riverside-clinic/reconcile", { method: "POST" });
    });
    assert.deepEqual(entries, []);
  });

  test("changes and reveals nothing if the entry can't be written", async () => {
    const { ownerUrl } = practice.database;
    await putConfig(practice, slug, { apiKey: "kept" });
    const { launch: open, patientId } = await launch();
    await change(ownerUrl, "alter table audit_entries add constraint never check (action = '') not valid");
    try {
      await assertFailure(await putConfig(practice, slug, { apiKey: "changed" }), 500);
      await assertFailure(await redeem({ launch: open }), 500);
      const path = `/internal/app-installations/${slug}/config`;
      await assertFailure(await practice.as("ehr-service", path, { headers: { "x-org-alias": riverside } }), 500);
      const body = { secret: "a-secret-of-sixteen" };
      await assertFailure(
        await practice.as("operator", "/admin/organisations/unheard-of/secret", { method: "PUT", body }),
        500,
      );
    } finally {
      await change(ownerUrl, "alter table audit_entries drop constraint never");
    }
    assert.deepEqual(await configInClear(practice, slug), { apiKey: "kept" });
    const redeemed = (await (await redeem({ launch: open })).json()) as { data: { patient: string } };
    assert.equal(redeemed.data.patient, patientId, "the launch was not used up");
    const { rowCount } = await withClient(ownerUrl, (client) =>
      client.query("select from organisations where alias = 'unheard-of'"),
    );
    assert.equal(rowCount, 0);
  });

  test("contains no patient, launch, secret or value of a configuration", async () => {
    const launches = [await launch(), await launch()];
    await redeem({ launch: launches[0]?.launch });
    await redeem({ launch: launches[1]?.launch, appSlug: "another-app" });
    const dump = await withClient(practice.database.ownerUrl, async (client) =>
      JSON.stringify((await client.query("select * from audit_entries")).rows),
    );
    assert.match(dump, /another-app/);
    assert.doesNotMatch(dump, /needle/);
    for (const { launch: token, patientId } of launches) {
      for (const hidden of [token, patientId]) assert.ok(!dump.includes(hidden), hidden);
    }
  });

  test("creates the missing partition of the day during a redemption", async () => {
    const { ownerUrl } = practice.database;
    const { launch: open } = await launch();
    const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    await change(ownerUrl, `alter table audit_entries detach partition audit_entries_${day}`);
    await change(ownerUrl, `alter table audit_entries_${day} rename to audit_entries_detached`);
    assert.equal((await redeem({ launch: open })).status, 200);
    await eventually("its entry is there", 30_000, async () => (await all()).length === 1);
  });
});
