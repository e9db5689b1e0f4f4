import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, eventually, startNetworkFaultProxy, withClient } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { insertKnownApps } from "@ehr-marketplace/tests/support/known-apps";
import { signBody } from "@ehr-marketplace/webhook-signature";

test("without its database the EHR starts and returns 503 in its wrapper, and works once the database is available", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const app = {
    id: randomUUID(),
    slug: "northwind-scribe",
    name: "Northwind Scribe",
    iconUrl: "https://icons.example/scribe.svg",
    category: "DOCUMENTATION",
    extensionPoints: [],
    smartLaunchUrl: null,
    fhirScopes: "",
  };
  await insertKnownApps(ownerUrl, [app]);
  const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
  proxy.interrupt("reset");
  const ehr = await startEhr(cleanUp, proxy.url);
  const [{ alias, secret } = { alias: "", secret: "" }] = demoOrganisations;
  const body = JSON.stringify({
    event: "subscription.created",
    app,
    subscription: { id: randomUUID(), status: "active", orgAlias: alias },
    timestamp: new Date().toISOString(),
  });
  const send = (): Promise<Response> =>
    fetch(`${ehr.url}/api/internal/marketplace-webhook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-marketplace-signature": signBody(body, secret),
        "x-marketplace-delivery-id": "the only delivery",
      },
      body,
    });
  const countSchedules = async (): Promise<number> =>
    withClient(ownerUrl, async (client) => (await client.query("select from pgboss.schedule")).rowCount ?? 0);

  const refused = await send();
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const { success, data } = (await refused.json()) as { success: boolean; data: unknown };
  assert.deepEqual([success, data], [false, null]);
  assert.equal((await fetch(`${ehr.url}/health/live`)).status, 200);
  assert.equal((await fetch(`${ehr.url}/health/ready`)).status, 503);
  assert.equal(await countSchedules(), 0);

  proxy.restore();
  await eventually("the event is applied", 15_000, async () => (await send()).status === 200);
  await eventually("the scheduled jobs are registered", 15_000, async () => (await countSchedules()) === 4);
  const { rows } = await withClient(ownerUrl, (client) => client.query("select status from installations"));
  assert.deepEqual(rows, [{ status: "active" }]);
});
