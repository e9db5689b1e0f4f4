import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  assertFailure,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  connectTo,
  startCallers,
  startEhrProcess,
} from "@ehr-marketplace/tests/support";
import type { DB } from "../database-schema.ts";
import { deleteExpiredContexts } from "./expire-contexts.ts";
import {
  askingAt,
  become,
  contextOf,
  contextsOf,
  hilltop,
  install,
  type LaunchingEhr,
  launchOf,
  member,
  riverside,
} from "./launches.test-support.ts";

/** Two processes over one database, as they run side by side in production. */
async function startTwo(cleanUp: CleanUp): Promise<[LaunchingEhr, LaunchingEhr]> {
  const callers = await startCallers(cleanUp);
  const database = await cloneDatabase(cleanUp, "ehr");
  const options = { marketplaceUrl: "http://127.0.0.1:9", environment: callers.environment };
  const one = await startEhrProcess(cleanUp, database.serviceUrl, options);
  const other = await startEhrProcess(cleanUp, database.serviceUrl, options);
  return [askingAt(one.url, callers, database), askingAt(other.url, callers, database)];
}

describe("redeeming a launch", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchingEhr;
  let beside: LaunchingEhr;
  let gone: string;
  before(async () => {
    [ehr, beside] = await startTwo(cleanUp);
    gone = await assertFailure(await ehr.redeem({ launch: "unknown", appSlug: "unheard-of" }), 410);
  });
  const launched = async (asked: object = { patientId: randomUUID() }) => {
    const appSlug = await install(ehr.ownerUrl);
    return { appSlug, launch: launchOf(await ehr.launch(appSlug, asked)) };
  };
  const assertGone = async (answer: Response): Promise<void> => assert.equal(await assertFailure(answer, 410), gone);

  test("the context is answered, and then it is gone: no row of it is left", async () => {
    const [patientId, encounterId] = [randomUUID(), randomUUID()];
    const redeeming = await launched({ patientId, encounterId });
    assert.equal((await contextsOf(ehr.ownerUrl, redeeming.appSlug)).length, 1);
    assert.deepEqual(await contextOf(await beside.redeem(redeeming)), {
      patient: patientId,
      encounter: encounterId,
      orgAlias: riverside,
      appSlug: redeeming.appSlug,
      user: member,
    });
    assert.deepEqual(await contextsOf(ehr.ownerUrl, redeeming.appSlug), []);
    await assertGone(await ehr.redeem(redeeming));
    await assertGone(await beside.redeem(redeeming));
  });

  test("a launch without a patient has an empty context", async () => {
    const { patient, encounter } = await contextOf(await ehr.redeem(await launched({})));
    assert.deepEqual([patient, encounter], [null, null]);
  });

  test("of 50 that redeem it at once, at two processes, exactly one gets the context", async () => {
    for (let round = 0; round < 5; round += 1) {
      const patientId = randomUUID();
      const redeeming = await launched({ patientId });
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => (nth % 2 === 0 ? ehr : beside).redeem(redeeming)),
      );
      const redeemed = answers.filter(({ status }) => status === 200);
      assert.equal(redeemed.length, 1);
      assert.equal((await contextOf(redeemed[0] as Response)).patient, patientId);
      for (const answer of answers) if (answer !== redeemed[0]) await assertGone(answer);
    }
  });

  for (const [what, wrong] of [
    ["another user", { user: "riverside-admin" }],
    ["another organisation", { orgAlias: hilltop }],
    ["another app", { appSlug: "another-app" }],
    ["a user whose name only begins alike", { user: `${member}2` }],
    ["the organisation in other letters", { orgAlias: riverside.toUpperCase() }],
  ] as const) {
    test(`by ${what}: nothing, and it is burnt for the right one as well`, async () => {
      const redeeming = await launched();
      await assertGone(await ehr.redeem({ ...redeeming, ...wrong }));
      await assertGone(await ehr.redeem(redeeming));
      assert.deepEqual(await contextsOf(ehr.ownerUrl, redeeming.appSlug), []);
    });
  }

  test("of 50 at once, half of them by another user, one gets the context at most", async () => {
    const redeeming = await launched();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        (nth % 4 < 2 ? ehr : beside).redeem(nth % 2 === 0 ? redeeming : { ...redeeming, user: "riverside-admin" }),
      ),
    );
    const redeemed = answers.flatMap(({ status }, nth) => (status === 200 ? [nth] : []));
    assert.ok(redeemed.length <= 1 && redeemed.every((nth) => nth % 2 === 0), redeemed.join());
    assert.deepEqual(await contextsOf(ehr.ownerUrl, redeeming.appSlug), []);
  });

  const letExpire = (appSlug: string) =>
    withClient(ehr.ownerUrl, (client) =>
      client.query("update launch_contexts set expires_at = now() where app_slug = $1", [appSlug]),
    );

  test("after five minutes: nothing, and it is gone", async () => {
    const redeeming = await launched();
    await letExpire(redeeming.appSlug);
    await assertGone(await ehr.redeem(redeeming));
    assert.deepEqual(await contextsOf(ehr.ownerUrl, redeeming.appSlug), []);
  });

  test("what nobody redeemed in time is deleted, however much it is; what can still be redeemed stays", async (t) => {
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
    // The service's own clock may come round meanwhile and delete some of them.
    assert.ok(
      (await deleteExpiredContexts(
        (
          await connectTo<DB>(cleanUpAfter(t), ehr.serviceUrl, { statementTimeoutMs: 5_000 })
        ).database,
        new Date(),
      )) <= 10_002,
    );
    for (const slug of [expired.appSlug, "many"]) assert.deepEqual(await contextsOf(ehr.ownerUrl, slug), []);
    assert.equal((await ehr.redeem(live)).status, 200);
  });

  for (const status of ["paused", "removed"] as const) {
    test(`of an app that is ${status} meanwhile: nothing, not even once it is back`, async () => {
      const redeeming = await launched();
      await become(ehr.ownerUrl, redeeming.appSlug, status);
      await assertGone(await ehr.redeem(redeeming));
      await become(ehr.ownerUrl, redeeming.appSlug, "active");
      await assertGone(await ehr.redeem(redeeming));
    });
  }

  test("a launch that only resembles one redeems nothing, and burns nothing", async () => {
    const redeeming = await launched();
    // Lenient decoders take these for the same bytes.
    const { launch } = redeeming;
    for (const alike of [`${launch}=`, ` ${launch}`, `${launch}A`, launch.slice(0, -1), launch.toUpperCase()]) {
      await assertGone(await ehr.redeem({ ...redeeming, launch: alike }));
    }
    assert.equal((await ehr.redeem(redeeming)).status, 200);
  });

  test("only an authorization server redeems; whoever may not burns nothing", async () => {
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
