import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

test("the build is up to date after a build, and is one for production in every environment", async () => {
  const script = new URL("build.ts", import.meta.url).pathname;
  const build = (): string =>
    spawnSync(process.execPath, [script], { encoding: "utf8", env: { ...process.env, NODE_ENV: "development" } })
      .stdout;
  build();
  assert.match(build(), /up to date/);
  const rendered = await readFile(new URL("../dist/server/render.js", import.meta.url), "utf8");
  assert.ok(rendered.includes("react.production") && !rendered.includes("jsxDEV"));
});
