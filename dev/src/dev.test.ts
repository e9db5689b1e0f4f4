import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

test("npm run dev starts nothing if a variable of a service is invalid, and says so", () => {
  const script = join(import.meta.dirname, "dev.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--ephemeral"], {
    env: { PATH: process.env["PATH"], DELIVERIES_IN_FLIGHT: "many" },
    encoding: "utf8",
    timeout: 60_000,
  });
  const reason = /^The configuration is invalid:\n {2}DELIVERIES_IN_FLIGHT: "many" is not a whole number/;
  assert.match(stderr.trimStart(), reason);
  assert.deepEqual([status, stdout], [1, ""]);
});
