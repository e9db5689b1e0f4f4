import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const bench = new URL("../bench.ts", import.meta.url).pathname;

test("the cost bench runs: it prints the cost of a change and its latency", async () => {
  const options = ["cost", "--scenarios", "100", "--seconds", "2"];
  // It exits with 1 if a goal is missed, as on a busy machine.
  const { stdout } = await promisify(execFile)(process.execPath, [bench, ...options]).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  const { figures } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as { figures: { value: number }[] };
  assert.equal(figures.length, 1);
  assert.ok((figures[0]?.value ?? 0) > 0, stdout);
  assert.match(stdout, /statements +round trips +commits/);
  assert.match(stdout, /insert into "events"/);
});
