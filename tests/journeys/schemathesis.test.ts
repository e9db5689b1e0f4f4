import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { cleanUpAfter, cloneDatabase, rounds, startApiProcess, startCallers } from "@ehr-marketplace/tests/support";

const schemathesis = new URL("../../.venv/bin/schemathesis", import.meta.url).pathname;

test("the marketplace keeps every promise of its OpenAPI document against generated requests", async (t) => {
  assert.ok(existsSync(schemathesis), "Schemathesis is not installed. Run: npm run setup:schemathesis");
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await startCallers(cleanUp);
  const environment = { ...callers.environment, LOG_LEVEL: "warn" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const given = ["run", `${api.url}/api/v1/openapi.json`, "--checks", "all", "--seed", String(seed), "--no-color"];
  const { stdout } = await promisify(execFile)(
    schemathesis,
    // An operator may do anything, and so gets furthest.
    [
      ...given,
      "--header",
      "X-Vendor-Slug: northwind-health",
      "--header",
      `Authorization: Bearer ${callers.token("operator")}`,
      "--max-examples",
      String(rounds(60, 500)),
      "--generation-database",
      "none",
    ],
    { maxBuffer: 64 * 1_048_576 },
  ).catch((error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}\n${error.stderr}`));
  t.diagnostic(stdout.trim().split("\n").slice(-12).join("\n"));
  const [, selected, total] = /Selected: (\d+)\/(\d+)/.exec(stdout) ?? [];
  assert.ok(selected !== undefined && selected === total, "every operation is tested");
  // It may warn that it found no ids to go on with; what subscriptions do has tests of its own.
  const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(stdout) ?? [];
  assert.ok(generated !== undefined && Number(generated) > 500, "requests were generated");
  assert.ok(!/\d+ failed/.test(stdout), `${passed} of ${generated} passed`);
});
