import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { createLaunchClient, install, launchOf, setInstallationStatus } from "./launches.test-support.ts";

test("logs, metrics and traces contain no patients and launches, whatever the outcome of a launch", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "ehr");
  const collector = await startReceiver(cleanUp);
  const service = await startEhrProcess(cleanUp, database.serviceUrl, {
    marketplaceUrl: "http://127.0.0.1:9",
    environment: { ...callers.environment, LOG_LEVEL: "trace", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const ehr = createLaunchClient(service.url, callers, database);
  const slug = await install(ehr.ownerUrl);
  const secrets: string[] = [];
  const context = (): { patientId: string; encounterId: string } => {
    const made = { patientId: randomUUID(), encounterId: randomUUID() };
    secrets.push(made.patientId, made.encounterId);
    return made;
  };
  const launch = async (): Promise<string> => {
    const made = launchOf(await ehr.launch(slug, context()));
    secrets.push(made);
    return made;
  };
  const path = `/app-installations/${slug}/launch`;
  const statuses: number[] = [];
  const recordStatus = async (response: Promise<Response>): Promise<void> => {
    statuses.push((await response).status);
  };

  await recordStatus(ehr.redeem({ launch: await launch(), appSlug: slug }));
  await recordStatus(ehr.redeem({ launch: await launch(), appSlug: slug, user: "somebody-else" }));
  await ehr.launch(slug, { ...context(), launchType: "native" });
  await ehr.launch(slug, { ...context(), launchType: "standalone" });
  await recordStatus(ehr.as("riverside-member", path, { body: { ...context(), launchType: "unheard-of" } }));
  await recordStatus(ehr.as("riverside-member", path, { body: { patientId: `${context().patientId}?` } }));
  await recordStatus(ehr.as("riverside-member", "/app-installations/unheard-of/launch", { body: context() }));
  await setInstallationStatus(ehr.ownerUrl, slug, "paused");
  await recordStatus(ehr.as("riverside-member", path, { body: context() }));
  await setInstallationStatus(ehr.ownerUrl, slug, "active");
  // A database error, whose details would contain the whole row.
  await withClient(ehr.ownerUrl, (client) =>
    client.query("alter table launch_contexts add constraint never check (false) not valid"),
  );
  await recordStatus(ehr.as("riverside-member", path, { body: context() }));
  assert.deepEqual(statuses, [200, 410, 400, 400, 404, 409, 500]);

  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(metrics, /launches_total\{launch_type="smart",outcome="launched"/);
  assert.match(metrics, /launch_redemptions_total\{outcome="refused"/);
  const lines = (): string => JSON.stringify(service.logEntries);
  await eventually("the failure is logged", 30_000, async () => lines().includes("internal-error"));
  service.child.kill("SIGTERM");
  await service.exited;
  const traces = collector.received.map(({ body }) => body).join("\n");
  assert.match(traces, /insert into launches/);
  assert.match(traces, /delete from launch_contexts/);

  for (const secret of secrets) {
    for (const [where, text] of Object.entries({ logs: lines(), metrics, traces }))
      assert.ok(!text.includes(secret), `${secret} is in the ${where}`);
  }
});
