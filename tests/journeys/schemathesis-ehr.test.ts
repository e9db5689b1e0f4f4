import assert from "node:assert/strict";
import { test } from "node:test";
import type { SubscriptionEvent } from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { insertKnownApps } from "@ehr-marketplace/tests/support/known-apps";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { signBody } from "@ehr-marketplace/webhook-signature";
import { runSchemathesis } from "./run-schemathesis.ts";

test("the EHR responds to generated requests as its OpenAPI document says", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const callers = await fetchCallers();
  const ehr = await startEhrProcess(cleanUp, serviceUrl, {
    marketplaceUrl: "http://127.0.0.1:9",
    environment: { ...callers.environment, ...patientLimits, LOG_LEVEL: "error" },
  });
  const [practice] = demoOrganisations;
  await insertKnownApps(ownerUrl, [scribe]);
  await installScribe(ehr.url, practice ?? assert.fail("no demo organisation"));
  // A token with all roles, to reach every operation.
  const organization = { "riverside-clinic": { roles: ["org-admin"] } };
  const roles = ["operator", "ehr-service", "launch-redeemer"];
  const token = await signToken(callers, { organization, roles, exp: Math.floor(Date.now() / 1_000) + 3_600 });
  await runSchemathesis(t, `${ehr.url}/api/openapi.json`, { Authorization: `Bearer ${token}` });
});

/** The app that the document's examples name. */
const scribe = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  iconUrl: "https://icons.example/scribe.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://scribe.example/launch",
  fhirScopes: "launch",
};

async function installScribe(ehrUrl: string, practice: { alias: string; secret: string }): Promise<void> {
  const body: SubscriptionEvent = {
    event: "subscription.created",
    app: scribe,
    subscription: { id: "01890a5d-ac96-774b-bcce-b302099a8058", status: "active", orgAlias: practice.alias },
    timestamp: new Date().toISOString(),
  };
  const response = await sendRequest(`${ehrUrl}/api/internal/marketplace-webhook`, undefined, {
    body,
    headers: {
      "x-marketplace-signature": signBody(JSON.stringify(body), practice.secret),
      "x-marketplace-delivery-id": "one",
    },
  });
  assert.equal(response.status, 200, await response.text());
}
