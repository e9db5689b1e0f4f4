import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { test } from "node:test";

const cwd = new URL("../../deploy/prometheus/", import.meta.url).pathname;

function runPromtool(...commandLine: string[]): void {
  const { error, status, stdout, stderr } = spawnSync("promtool", commandLine, { cwd, encoding: "utf8" });
  if (error !== undefined)
    throw new Error("promtool isn't installed. It is in Debian's package prometheus.", { cause: error });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

test("Prometheus accepts every alert, and each stays quiet and fires as its rule test says", () => {
  runPromtool("check", "rules", ...globSync("*-alerts.yml", { cwd }));
  runPromtool("test", "rules", ...globSync("tests/*.test.yml", { cwd }));
});
