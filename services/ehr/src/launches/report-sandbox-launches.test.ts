import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type SandboxMarketplace, startSandboxMarketplace } from "../apps/sandbox-marketplace.test-support.ts";
import { sandboxLaunchReports } from "../queues.ts";
import { findLoggedLaunches, install, type LaunchEhr, riverside, startLaunchEhr } from "./launches.test-support.ts";

interface ReportJob {
  data: unknown;
  state: string;
  retries: number;
  keptSeconds: number;
}

describe("launches of sandbox apps", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: SandboxMarketplace;
  let ehr: LaunchEhr;
  before(async () => {
    marketplace = await startSandboxMarketplace(cleanUp);
    ehr = await startLaunchEhr(cleanUp, marketplace.environment);
  });
  const subscriptionTo = (slug: string): Promise<string> =>
    withClient(ehr.ownerUrl, async (client) => {
      const { rows } = await client.query<{ id: string }>("select id from subscriptions where app_slug = $1", [slug]);
      return rows[0]?.id ?? assert.fail(`${slug} has no subscription`);
    });
  const jobsOf = (subscriptionId: string): Promise<ReportJob[]> =>
    withClient(ehr.ownerUrl, async (client) => {
      const { rows } = await client.query<ReportJob>(
        `select data, state::text, retry_count as retries,
           round(extract(epoch from keep_until - created_on))::integer as "keptSeconds"
         from pgboss.job where name = $1 and singleton_key = $2`,
        [sandboxLaunchReports, subscriptionId],
      );
      return rows;
    });
  const reportsOf = (subscriptionId: string) =>
    marketplace.requests.filter(({ line }) => line.includes(`/subscriptions/${subscriptionId}/`));
  const patientId = "patient-0815";

  test("are reported for the organisation's subscription, without the user and the patient", async () => {
    const slug = await install(ehr.ownerUrl, { slug: "sandbox-scribe" });
    const id = await subscriptionTo(slug);
    await ehr.launch(slug, { patientId });
    await eventually("the launch is reported", 15_000, () => reportsOf(id).length > 0);
    const line = `POST /api/v1/subscriptions/${id}/sandbox-launches`;
    const authorization = `Bearer token-of-${riverside}`;
    assert.deepEqual(reportsOf(id), [{ line, authorization, cacheControl: undefined, body: "" }]);
    await eventually("the job is completed", 15_000, async () =>
      (await jobsOf(id)).every(({ state }) => state === "completed"),
    );
    for (const { data } of await jobsOf(id)) assert.deepEqual(data, { orgAlias: riverside, subscriptionId: id });
    assert.equal((await findLoggedLaunches(ehr.ownerUrl, slug)).length, 1);
  });

  test("are retried for a day while the marketplace is unavailable, by one job however often the app is launched", async () => {
    const slug = await install(ehr.ownerUrl, { slug: "sandbox-retried" });
    const id = await subscriptionTo(slug);
    marketplace.reportStatus = 503;
    await ehr.launch(slug);
    await eventually("the report is retried", 15_000, async () =>
      (await jobsOf(id)).some(({ state }) => state === "retry"),
    );
    for (let nth = 0; nth < 3; nth += 1) await ehr.launch(slug);
    const jobs = await jobsOf(id);
    assert.deepEqual(
      jobs.map(({ keptSeconds }) => keptSeconds),
      [86_400],
    );
    assert.equal((await findLoggedLaunches(ehr.ownerUrl, slug)).length, 4);
    marketplace.reportStatus = 204;
    const earlier = reportsOf(id).length;
    await withClient(ehr.ownerUrl, (client) =>
      client.query("update pgboss.job set start_after = now() where name = $1 and singleton_key = $2", [
        sandboxLaunchReports,
        id,
      ]),
    );
    await eventually("it is reported", 15_000, () => reportsOf(id).length > earlier);
  });

  test("that the marketplace refuses are reported once", async () => {
    const slug = await install(ehr.ownerUrl, { slug: "sandbox-refused" });
    const id = await subscriptionTo(slug);
    marketplace.reportStatus = 404;
    await ehr.launch(slug);
    await eventually("the job ends", 15_000, async () => {
      const jobs = await jobsOf(id);
      return reportsOf(id).length > 0 && jobs.every(({ state }) => state === "completed");
    });
    marketplace.reportStatus = 204;
    assert.equal(reportsOf(id).length, 1);
  });

  test("are the only ones reported: no other app's, and none that is refused", async () => {
    const other = await install(ehr.ownerUrl);
    const paused = await install(ehr.ownerUrl, { slug: "sandbox-paused", status: "paused" });
    const native = await install(ehr.ownerUrl, { slug: "sandbox-without-url", smartLaunchUrl: null });
    await ehr.launch(other);
    for (const slug of [paused, native]) {
      const path = `/app-installations/${slug}/launch`;
      const response = await ehr.as("riverside-member", path, { body: { launchType: "smart" } });
      assert.ok(response.status === 409 || response.status === 422, String(response.status));
    }
    for (const slug of [other, paused, native]) assert.deepEqual(await jobsOf(await subscriptionTo(slug)), []);
    assert.deepEqual(await jobsOf(randomUUID()), []);
  });

  test("are not logged if the report can't be queued", async () => {
    const slug = await install(ehr.ownerUrl, { slug: "sandbox-unqueued" });
    const revoke =
      "alter table pgboss.job_common add constraint refuses_reports check (name <> $$sandbox-launch-reports$$)";
    await withClient(ehr.ownerUrl, (client) => client.query(`${revoke} not valid`));
    try {
      const response = await ehr.as("riverside-member", `/app-installations/${slug}/launch`, { body: {} });
      assert.equal(response.status, 500);
      assert.deepEqual(await findLoggedLaunches(ehr.ownerUrl, slug), []);
    } finally {
      await withClient(ehr.ownerUrl, (client) =>
        client.query("alter table pgboss.job_common drop constraint refuses_reports"),
      );
    }
  });
});
