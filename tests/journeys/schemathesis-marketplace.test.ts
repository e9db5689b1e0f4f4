import { test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";
import { runSchemathesis } from "./run-schemathesis.ts";

test("the marketplace responds to generated requests as its OpenAPI document says", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const environment = { ...callers.environment, ...patientLimits, LOG_LEVEL: "warn" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  // An operator may call every operation.
  const headers = { Authorization: `Bearer ${callers.token("operator")}`, "X-Vendor-Slug": "northwind-health" };
  await runSchemathesis(t, `${api.url}/api/v1/openapi.json`, headers);
});
