import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { ehrEnvironment, marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { findBundled } from "@ehr-marketplace/tests/support/service-process";

const urls = { marketplaceUrl: "http://127.0.0.1:9", fhirBaseUrl: "https://fhir.example/{orgAlias}" };

for (const [entry, variable, template, environmentOf] of [
  ["marketplace/api", "MARKETPLACE_PORT", "empty", marketplaceEnvironment],
  ["marketplace/worker", "WORKER_PORT", "empty", marketplaceEnvironment],
  ["ehr/api", "EHR_PORT", "ehr", (url: string) => ehrEnvironment(url, urls)],
] as const) {
  test(`${entry} on a taken port exits with 1, and prints the port and the variable that sets it`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const { serviceUrl } = await cloneDatabase(cleanUp, template);
    const taken = createServer().listen(0, "127.0.0.1");
    cleanUp(async () => taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const [service = "", name = ""] = entry.split("/");
    const child = spawn(process.execPath, [await findBundled(service, name)], {
      env: { ...environmentOf(serviceUrl), NODE_ENV: "test", HOST: "127.0.0.1", [variable]: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    cleanUp(async () => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const printed = await text(child.stderr);
    assert.deepEqual(await exited, [1, null]);
    assert.equal(
      printed,
      `${variable}: another process listens on port ${port} of 127.0.0.1. Stop it, or set ${variable} to another port.\n`,
    );
  });
}
