import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertCallable } from "@ehr-marketplace/tests/support/assert-callable";
import { prepareStackData, startDevStack } from "@ehr-marketplace/tests/support/dev-stack";
import { assertStops, assertStopsEarly, processesOf } from "@ehr-marketplace/tests/support/stop-dev-stack";

test("the development stack, stopped while it starts the services, never says that it is ready", async (t) => {
  const until = /Starting the marketplace, its worker, the EHR and the web/;
  await assertStopsEarly(await startDevStack(cleanUpAfter(t), { until }), "ready");
});

test("the development stack allows the origins in ALLOWED_ORIGINS, and stops on SIGTERM", async (t) => {
  const origin = "http://localhost:7777";
  const cleanUp = cleanUpAfter(t);
  const data = await prepareStackData(cleanUp);
  const stack = await startDevStack(cleanUp, { data, environment: { ALLOWED_ORIGINS: origin } });
  await assertCallable(stack, origin);
  await assertStops(stack, "SIGTERM");
});

test("a killed development stack leaves no process behind", async (t) => {
  const stack = await startDevStack(cleanUpAfter(t));
  assert.ok((await processesOf(stack)).length > 3);
  stack.signal("SIGKILL");
  await eventually("all processes have exited", 15_000, async () => (await processesOf(stack)).length === 0);
});
