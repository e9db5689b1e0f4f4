import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import {
  appUrl,
  contextOf,
  findContexts,
  findLoggedLaunches,
  hilltop,
  install,
  type LaunchEhr,
  launchOf,
  member,
  riverside,
  setInstallationStatus,
  startLaunchEhr,
} from "./launches.test-support.ts";

const iss = encodeURIComponent("https://fhir.example/riverside-clinic");
const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe("launching an app", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchEhr;
  before(async () => {
    ehr = await startLaunchEhr(cleanUp);
  });
  const launchAs = (persona: Parameters<LaunchEhr["as"]>[0], slug: string, body: unknown, headers = {}) =>
    ehr.as(persona, `/app-installations/${slug}/launch`, { body, headers });
  const assertNothingLaunched = async (slug: string): Promise<void> => {
    assert.deepEqual(await findLoggedLaunches(ehr.ownerUrl, slug), []);
    assert.deepEqual(await findContexts(ehr.ownerUrl, slug), []);
  };

  test("smart: returns the app's URL with iss and a launch of 256 bits, and stores only its hash", async () => {
    const slug = await install(ehr.ownerUrl);
    const body = { patientId: randomUUID(), encounterId: randomUUID(), launchType: "smart" };
    const start = Date.now();
    const launched = await ehr.launch(slug, body);
    const launch = launchOf(launched);
    assert.equal(Buffer.from(launch, "base64url").length, 32);
    assert.equal(launched.launchUrl, `${appUrl}&iss=${iss}&launch=${launch}`);
    assert.match(launched.launchId, uuidV7);
    const at = Date.parse(launched.launchedAt);
    assert.ok(start <= at && at <= Date.now());
    assert.equal(launched.expiresAt, new Date(at + 300_000).toISOString());
    assert.deepEqual(Object.keys(launched), ["launchId", "launchType", "launchedAt", "launchUrl", "expiresAt"]);

    const [row, ...others] = await findLoggedLaunches(ehr.ownerUrl, slug);
    assert.deepEqual(others, []);
    assert.deepEqual(row, {
      id: launched.launchId,
      org_alias: riverside,
      app_slug: slug,
      launch_type: "smart",
      user_issuer: ehr.callers.identityProvider.issuer,
      user_subject: member,
      patient_id: body.patientId,
      encounter_id: body.encounterId,
      launched_at: new Date(at),
    });
    const contexts = await findContexts(ehr.ownerUrl, slug);
    assert.deepEqual(contexts, [
      {
        launch_hash: createHash("sha256").update(launch).digest(),
        launch_id: launched.launchId,
        org_alias: riverside,
        app_slug: slug,
        user_subject: member,
        patient_id: body.patientId,
        encounter_id: body.encounterId,
        expires_at: new Date(at + 300_000),
      },
    ]);
  });

  test("native: returns no URL, stores no context, and logs the patient", async () => {
    const slug = await install(ehr.ownerUrl);
    const patientId = randomUUID();
    const { launchType, launchUrl, expiresAt } = await ehr.launch(slug, { launchType: "native", patientId });
    assert.deepEqual({ launchType, launchUrl, expiresAt }, { launchType: "native", launchUrl: null, expiresAt: null });
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, slug)).map((row) => [row.launch_type, row.patient_id, row.encounter_id]),
      [["native", patientId, null]],
    );
    assert.deepEqual(await findContexts(ehr.ownerUrl, slug), []);
  });

  test("standalone: returns the app's URL with iss and without launch, and stores no context", async () => {
    const slug = await install(ehr.ownerUrl, { smartLaunchUrl: `${appUrl}&launch=stale` });
    const { launchType, launchUrl, expiresAt } = await ehr.launch(slug, { launchType: "standalone" });
    assert.deepEqual([launchType, launchUrl, expiresAt], ["standalone", `${appUrl}&iss=${iss}`, null]);
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, slug)).map((row) => row.launch_type),
      ["standalone"],
    );
    assert.deepEqual(await findContexts(ehr.ownerUrl, slug), []);
  });

  test("launches as smart by default if the app has a launch URL, else as native", async () => {
    const smart = await install(ehr.ownerUrl);
    const native = await install(ehr.ownerUrl, { smartLaunchUrl: null });
    assert.equal((await ehr.launch(smart)).launchType, "smart");
    const launched = await ehr.launch(native);
    assert.deepEqual([launched.launchType, launched.launchUrl, launched.expiresAt], ["native", null, null]);
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, native)).map((row) => row.launch_type),
      ["native"],
    );
  });

  test("every launch has its own id and value", async () => {
    const slug = await install(ehr.ownerUrl);
    const launches = await Promise.all(Array.from({ length: 20 }, () => ehr.launch(slug)));
    assert.equal(new Set(launches.map(launchOf)).size, 20);
    assert.equal(new Set((await findLoggedLaunches(ehr.ownerUrl, slug)).map(({ id }) => id)).size, 20);
  });

  test("writes concurrent launches in batches; an invalid one fails no other", async () => {
    const [slug, broken] = [await install(ehr.ownerUrl), await install(ehr.ownerUrl)];
    await withClient(ehr.ownerUrl, (client) =>
      client.query(`alter table launches add constraint broken check (app_slug <> '${broken}')`),
    );
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, nth) => launchAs(member, nth % 10 === 5 ? broken : slug, {})),
    );
    assert.deepEqual(
      responses.map(({ status }) => status),
      responses.map((_, nth) => (nth % 10 === 5 ? 500 : 200)),
    );
    assert.equal((await findLoggedLaunches(ehr.ownerUrl, slug)).length, 27);
    await assertNothingLaunched(broken);
    await withClient(ehr.ownerUrl, (client) => client.query("alter table launches drop constraint broken"));
  });

  for (const launchType of ["smart", "standalone"]) {
    test(`returns 422 for ${launchType} if the app has no launch URL`, async () => {
      const slug = await install(ehr.ownerUrl, { smartLaunchUrl: null });
      assert.match(await assertFailure(await launchAs(member, slug, { launchType }), 422), /no SMART launch URL/);
      await assertNothingLaunched(slug);
    });
  }

  test("the database rejects a launch URL that browsers must not open", async () => {
    const urls = ["javascript:alert(1)", "http://scribe.example/launch", "http://localhost@evil.example/", ""];
    for (const smartLaunchUrl of [...urls, `https://scribe.example/${"x".repeat(2_048)}`]) {
      await assert.rejects(install(ehr.ownerUrl, { smartLaunchUrl }), /smart_launch_url_is_https/);
    }
    const local = await install(ehr.ownerUrl, { smartLaunchUrl: "http://localhost:3000/launch" });
    assert.match((await ehr.launch(local)).launchUrl ?? "", /^http:\/\/localhost:3000\/launch[?]/, "the local stack");
  });

  test("returns 422 for an app with an invalid launch URL", async () => {
    const slug = await install(ehr.ownerUrl, { smartLaunchUrl: "https://a.example:99999/launch" });
    assert.match(await assertFailure(await launchAs(member, slug, {}), 422), /no SMART launch URL/);
    assert.equal((await ehr.launch(slug, { launchType: "native" })).launchType, "native");
  });

  test("returns 409 from the moment the app is paused until it is resumed", async () => {
    const slug = await install(ehr.ownerUrl);
    await ehr.launch(slug);
    await setInstallationStatus(ehr.ownerUrl, slug, "paused");
    for (const launchType of ["native", "smart", "standalone", undefined]) {
      assert.match(await assertFailure(await launchAs(member, slug, { launchType }), 409), /paused/);
    }
    assert.equal((await findLoggedLaunches(ehr.ownerUrl, slug)).length, 1);
    await setInstallationStatus(ehr.ownerUrl, slug, "active");
    await ehr.launch(slug);
  });

  test("returns 404 for an app that is unknown, removed, or installed for others only", async () => {
    const removed = await install(ehr.ownerUrl, { status: "removed" });
    const others = await install(ehr.ownerUrl, { orgAlias: hilltop });
    const messages = new Set<string>();
    for (const slug of ["unheard-of", removed, others, "%27%20or%201=1", "a".repeat(500)]) {
      messages.add(await assertFailure(await launchAs(member, slug, {}), 404));
      messages.add(await assertFailure(await launchAs(member, slug, { launchType: "smart" }), 404));
    }
    assert.equal(messages.size, 1);
    await assertNothingLaunched(removed);
    await assertNothingLaunched(others);
  });

  test("allows members, admins and operators, each for the acting organisation", async () => {
    const slug = await install(ehr.ownerUrl);
    const hilltops = await install(ehr.ownerUrl, { orgAlias: hilltop });
    await ehr.launch(slug, {}, "riverside-admin");
    assert.equal((await launchAs("two-practices", slug, {}, { "x-org-alias": riverside })).status, 200);
    assert.equal((await launchAs("two-practices", hilltops, {}, { "x-org-alias": hilltop })).status, 200);
    assert.equal((await launchAs("operator", hilltops, {}, { "x-org-alias": hilltop })).status, 200);
    await assertFailure(await launchAs("two-practices", slug, {}, { "x-org-alias": hilltop }), 404);
    await assertFailure(await launchAs("two-practices", slug, {}), 400);
    await assertFailure(await launchAs("riverside-admin", hilltops, {}, { "x-org-alias": hilltop }), 403);
    for (const persona of ["billing", "northwind-developer", "ehr-service", "launch-redeemer"] as const) {
      await assertFailure(await launchAs(persona, slug, {}, { "x-org-alias": riverside }), 403);
    }
    await assertFailure(await launchAs(null, slug, {}), 401);
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, hilltops)).map((row) => [row.org_alias, row.user_subject]),
      [
        [hilltop, "two-practices"],
        [hilltop, "operator"],
      ],
    );
  });

  for (const [what, body] of [
    ["nothing is left out", { patientId: null, encounterId: null, launchType: null }],
    ["some are given", { patientId: "p.1", encounterId: null, launchType: null }],
  ] as const) {
    test(`null counts as absent if ${what}`, async () => {
      const slug = await install(ehr.ownerUrl);
      assert.equal((await ehr.launch(slug, body)).launchType, "smart");
      const [row] = await findLoggedLaunches(ehr.ownerUrl, slug);
      assert.deepEqual([row?.patient_id, row?.encounter_id], [body.patientId, null]);
    });
  }

  test("accepts any FHIR id for patient and encounter, in the log and in the context", async () => {
    const slug = await install(ehr.ownerUrl);
    for (const [patientId, encounterId] of [
      ["p", "0"],
      ["MRN-0815.Jane", "A".repeat(64)],
      [randomUUID().toUpperCase(), "-.-"],
    ] as const) {
      const launch = launchOf(await ehr.launch(slug, { patientId, encounterId }));
      const row = (await findLoggedLaunches(ehr.ownerUrl, slug)).at(-1);
      assert.deepEqual([row?.patient_id, row?.encounter_id], [patientId, encounterId]);
      const { patient, encounter } = await contextOf(await ehr.redeem({ launch, appSlug: slug }));
      assert.deepEqual([patient, encounter], [patientId, encounterId]);
    }
  });

  test("the database rejects invalid FHIR ids, in the log and in contexts", async () => {
    const slug = await install(ehr.ownerUrl);
    await ehr.launch(slug, { patientId: "p" });
    for (const table of ["launches", "launch_contexts"]) {
      for (const [column, id] of [
        ["patient_id", "a b"],
        ["encounter_id", ""],
      ] as const) {
        const copy = `insert into ${table} select (jsonb_populate_record(each, $2)).* from ${table} each where app_slug = $1`;
        const change = { [column]: id, id: randomUUID(), launch_hash: `\\x${"00".repeat(32)}` };
        await assert.rejects(
          withClient(ehr.ownerUrl, (client) => client.query(copy, [slug, JSON.stringify(change)])),
          { code: "23514", constraint: `${column}_is_a_fhir_id` },
        );
      }
    }
  });

  for (const [what, body] of [
    ["a patient's id that is no FHIR id", { patientId: "MRN 0815 Jane" }],
    ["one that is empty", { patientId: "" }],
    ["one of 65 characters", { patientId: "Jane".padEnd(65, "0") }],
    ["one with a line break behind it", { patientId: "Jane\n" }],
    ["one with something behind it", { patientId: `${randomUUID()} Jane` }],
    ["one in another spelling", { patientId: `urn:uuid:${randomUUID()}` }],
    ["one in a list", { patientId: ["MRN-0815-Jane"] }],
    ["an encounter's id that is no FHIR id", { encounterId: "MRN_0815_Jane" }],
    ["a type that isn't one", { patientId: randomUUID(), launchType: "Jane" }],
    ["a field too many", { patientId: randomUUID(), patient: "Jane" }],
    ["a list", [randomUUID()]],
  ] as const) {
    test(`returns 400 for ${what}, without repeating the input`, async () => {
      const slug = await install(ehr.ownerUrl);
      const message = await assertFailure(await launchAs(member, slug, body), 400);
      assert.doesNotMatch(message, /Jane|MRN|[\da-f]{8}-/);
      await assertNothingLaunched(slug);
    });
  }

  test("the message about an invalid id describes a FHIR id, and that about an invalid type lists the types", async () => {
    const slug = await install(ehr.ownerUrl);
    const body = { encounterId: "MRN_0815", launchType: "SMART" };
    const message = await assertFailure(await launchAs(member, slug, body), 400);
    assert.match(message, /\/body\/encounterId must be a FHIR id: 1 to 64 letters, digits, hyphens and dots/);
    assert.match(message, /\/body\/launchType must be one of: native, smart, standalone/);
  });

  test("the message about an id that is too long and has invalid characters describes a FHIR id once", async () => {
    const slug = await install(ehr.ownerUrl);
    for (const patientId of ["a".repeat(65), "_".repeat(65), 7]) {
      const message = await assertFailure(await launchAs(member, slug, { patientId }), 400);
      assert.equal(message, "/body/patientId must be a FHIR id: 1 to 64 letters, digits, hyphens and dots.");
    }
  });

  test("a request without a body launches like one with {}", async () => {
    const slug = await install(ehr.ownerUrl);
    const response = await ehr.as(member, `/app-installations/${slug}/launch`, { method: "POST" });
    assert.equal(response.status, 200);
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, slug)).map((row) => [row.launch_type, row.patient_id]),
      [[(await ehr.launch(slug)).launchType, null]],
    );
  });

  test("returns 400 for invalid JSON, 415 for another media type and 413 for a large body", async () => {
    const slug = await install(ehr.ownerUrl);
    const post = (headers: Record<string, string>, body: string) =>
      fetch(`${ehr.url}/api/app-installations/${slug}/launch`, {
        method: "POST",
        headers: { authorization: `Bearer ${ehr.callers.token(member)}`, ...headers },
        body,
      });
    await assertFailure(await post({ "content-type": "application/json" }, "{"), 400);
    await assertFailure(await post({ "content-type": "text/plain" }, "{}"), 415);
    await assertFailure(await post({ "content-type": "application/json" }, `{"a":"${"x".repeat(16_384)}"}`), 413);
    await assertNothingLaunched(slug);
  });

  test("counts launches by type and outcome, without labels of organisations, apps or patients", async () => {
    const { url } = ehr;
    const slug = await install(ehr.ownerUrl);
    const lines = async (): Promise<string[]> => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return text.split("\n").filter((line) => line.startsWith("launch"));
    };
    const count = async (type: string, outcome: string): Promise<number> => {
      const labels = `launches_total{launch_type="${type}",outcome="${outcome}",service="ehr-api"}`;
      return Number((await lines()).find((line) => line.startsWith(labels))?.split(" ")[1] ?? 0);
    };
    const earlier = [await count("smart", "launched"), await count("default", "refused")];
    await ehr.launch(slug);
    await launchAs(member, "unheard-of", {});
    assert.deepEqual(
      [await count("smart", "launched"), await count("default", "refused")],
      earlier.map((value) => value + 1),
    );
    assert.doesNotMatch((await lines()).join(), /app-\d|riverside|hilltop/);
  });
});
