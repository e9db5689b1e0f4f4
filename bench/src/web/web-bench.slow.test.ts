import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const bench = new URL("../bench.ts", import.meta.url).pathname;

test("the web bench runs: it prints the CPU time and the latency of the home page and of app pages", async () => {
  const options = ["web", "--figures", "1", "--seconds", "1", "--requests", "40"];
  // It exits with 1 if a goal is missed, as on a busy machine.
  const { stdout } = await promisify(execFile)(process.execPath, [bench, ...options]).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  const { figures } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as {
    figures: { name: string; value: number }[];
  };
  assert.deepEqual(
    figures.map(({ name }) => name),
    [
      "1 CPU per request: home",
      "1 CPU per request: app page",
      "1 home, p95 in ms at 200 requests a second for 1 s",
      "1 pages of 60 apps, p95 in ms at 200 requests a second for 1 s",
    ],
  );
  for (const { value } of figures) assert.ok(value > 0, stdout);
});
