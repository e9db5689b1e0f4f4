import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import type { DB } from "../database-schema.ts";
import {
  contextOf,
  createLaunchClient,
  findContexts,
  hilltop,
  install,
  type LaunchEhr,
  launchOf,
  member,
  riverside,
  setInstallationStatus,
} from "./launches.test-support.ts";
import { deleteExpiredContexts } from "./redeem-launch.ts";

/** Two processes with one database, as in production. */
async function startTwo(cleanUp: CleanUp): Promise<[LaunchEhr, LaunchEhr]> {
  const callers = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "ehr");
  const options = { marketplaceUrl: "http://127.0.0.1:9", environment: callers.environment };
  const one = await startEhrProcess(cleanUp, database.serviceUrl, options);
  const other = await startEhrProcess(cleanUp, database.serviceUrl, options);
  return [createLaunchClient(one.url, callers, database), createLaunchClient(other.url, callers, database)];
}

describe("redeeming a launch", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchEhr;
  let beside: LaunchEhr;
  let gone: string;
  before(async () => {
    [ehr, beside] = await startTwo(cleanUp);
    gone = await assertFailure(await ehr.redeem({ launch: "unknown", appSlug: "unheard-of" }), 410);
  });
  const launched = async (body: object = { patientId: randomUUID() }) => {
    const appSlug = await install(ehr.ownerUrl);
    return { appSlug, launch: launchOf(await ehr.launch(appSlug, body)) };
  };
  const assertGone = async (response: Response): Promise<void> =>
    assert.equal(await assertFailure(response, 410), gone);

  test("returns the context once, and deletes its row", async () => {
    const [patientId, encounterId] = [randomUUID(), randomUUID()];
    const redeeming = await launched({ patientId, encounterId });
    assert.equal((await findContexts(ehr.ownerUrl, redeeming.appSlug)).length, 1);
    const { subscriptionId, ...context } = await contextOf(await beside.redeem(redeeming));
    assert.match(subscriptionId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(context, {
      patient: patientId,
      encounter: encounterId,
      orgAlias: riverside,
      appSlug: redeeming.appSlug,
      user: member,
      fhirScopes: "launch",
    });
    assert.deepEqual(await findContexts(ehr.ownerUrl, redeeming.appSlug), []);
    await assertGone(await ehr.redeem(redeeming));
    await assertGone(await beside.redeem(redeeming));
  });

  test("returns an empty context for a launch without a patient", async () => {
    const { patient, encounter } = await contextOf(await ehr.redeem(await launched({})));
    assert.deepEqual([patient, encounter], [null, null]);
  });

  test("returns the context to exactly one of 50 concurrent requests to two processes", async () => {
    for (let round = 0; round < 5; round += 1) {
      const patientId = randomUUID();
      const redeeming = await launched({ patientId });
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => (nth % 2 === 0 ? ehr : beside).redeem(redeeming)),
      );
      const redeemed = responses.filter(({ status }) => status === 200);
      assert.equal(redeemed.length, 1);
      assert.equal((await contextOf(redeemed[0] as Response)).patient, patientId);
      for (const response of responses) if (response !== redeemed[0]) await assertGone(response);
    }
  });

  for (const [what, wrong] of [
    ["another user", { user: "riverside-admin" }],
    ["another organisation", { orgAlias: hilltop }],
    ["another app", { appSlug: "another-app" }],
    ["a user whose name only begins alike", { user: `${member}2` }],
    ["the organisation in other letters", { orgAlias: riverside.toUpperCase() }],
  ] as const) {
    test(`returns 410 to ${what}, and then to the right one too`, async () => {
      const redeeming = await launched();
      await assertGone(await ehr.redeem({ ...redeeming, ...wrong }));
      await assertGone(await ehr.redeem(redeeming));
      assert.deepEqual(await findContexts(ehr.ownerUrl, redeeming.appSlug), []);
    });
  }

  test("returns the context at most once for 50 concurrent requests, half of them by another user", async () => {
    const redeeming = await launched();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        (nth % 4 < 2 ? ehr : beside).redeem(nth % 2 === 0 ? redeeming : { ...redeeming, user: "riverside-admin" }),
      ),
    );
    const redeemed = responses.flatMap(({ status }, nth) => (status === 200 ? [nth] : []));
    assert.ok(redeemed.length <= 1 && redeemed.every((nth) => nth % 2 === 0), redeemed.join());
    assert.deepEqual(await findContexts(ehr.ownerUrl, redeeming.appSlug), []);
  });

  const letExpire = (appSlug: string) =>
    withClient(ehr.ownerUrl, (client) =>
      client.query("update launch_contexts set expires_at = now() where app_slug = $1", [appSlug]),
    );

  test("returns 410 after five minutes, and deletes the context", async () => {
    const redeeming = await launched();
    await letExpire(redeeming.appSlug);
    await assertGone(await ehr.redeem(redeeming));
    assert.deepEqual(await findContexts(ehr.ownerUrl, redeeming.appSlug), []);
  });

  test("deletes any number of expired contexts, and keeps those that can be redeemed", async (t) => {
    const [expired, live] = [await launched(), await launched()];
    await letExpire(expired.appSlug);
    await withClient(ehr.ownerUrl, (client) =>
      client.query(
        `insert into launch_contexts
         select sha256(nth::text::bytea), gen_random_uuid(), $1, 'many', 'somebody', gen_random_uuid(), null, now()
         from generate_series(1, 10001) as nth`,
        [riverside],
      ),
    );
    // The service's scheduled job may delete some of them meanwhile.
    assert.ok(
      (await deleteExpiredContexts(
        (
          await connectAsService<DB>(cleanUpAfter(t), ehr.serviceUrl, { statementTimeoutMs: 5_000 })
        ).database,
        new Date(),
      )) <= 10_002,
    );
    for (const slug of [expired.appSlug, "many"]) assert.deepEqual(await findContexts(ehr.ownerUrl, slug), []);
    assert.equal((await ehr.redeem(live)).status, 200);
  });

  for (const status of ["paused", "removed"] as const) {
    test(`returns 410 for an app that is ${status} since, also after it is active again`, async () => {
      const redeeming = await launched();
      await setInstallationStatus(ehr.ownerUrl, redeeming.appSlug, status);
      await assertGone(await ehr.redeem(redeeming));
      await setInstallationStatus(ehr.ownerUrl, redeeming.appSlug, "active");
      await assertGone(await ehr.redeem(redeeming));
    });
  }

  test("returns 410 for a similar launch, without consuming the right one", async () => {
    const redeeming = await launched();
    // Lenient decoders decode these to the same bytes.
    const { launch } = redeeming;
    for (const alike of [`${launch}=`, ` ${launch}`, `${launch}A`, launch.slice(0, -1), launch.toUpperCase()]) {
      await assertGone(await ehr.redeem({ ...redeeming, launch: alike }));
    }
    assert.equal((await ehr.redeem(redeeming)).status, 200);
  });

  test("allows only authorization servers; a refused caller doesn't consume the launch", async () => {
    const redeeming = await launched();
    const body = { orgAlias: riverside, user: member, ...redeeming };
    const path = "/internal/launch-contexts/consume";
    for (const persona of [
      "operator",
      "billing",
      member,
      "riverside-admin",
      "ehr-service",
      "northwind-developer",
    ] as const) {
      await assertFailure(await ehr.as(persona, path, { body, headers: { "x-org-alias": riverside } }), 403);
    }
    await assertFailure(await ehr.as(null, path, { body }), 401);
    assert.equal((await ehr.redeem(redeeming)).status, 200);
  });

  for (const [what, change] of [
    ["no launch", { launch: undefined }],
    ["an empty launch", { launch: "" }],
    ["a launch that is no text", { launch: 1 }],
    ["a launch without end", { launch: "s3cret".repeat(100) }],
    ["no user", { user: undefined }],
    ["no app", { appSlug: undefined }],
    ["no organisation", { orgAlias: undefined }],
    ["a field too many", { patient: "s3cret" }],
  ] as const) {
    test(`400: ${what}`, async () => {
      const body = { launch: "x", appSlug: "an-app", orgAlias: riverside, user: member, ...change };
      const message = await assertFailure(
        await ehr.as("launch-redeemer", "/internal/launch-contexts/consume", { body }),
        400,
      );
      assert.doesNotMatch(message, /s3cret/);
    });
  }
});
