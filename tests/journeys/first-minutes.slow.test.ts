// How long it takes a new user from `git clone` to the storefront in a browser. The goal of three minutes is for a machine that does
// nothing else, with an empty npm cache. By `npm test`, the dependencies are linked, and the time is printed, not limited.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, glob, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { cleanUpAfter, isFullRun } from "@ehr-marketplace/test-kit";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { startDevStack } from "@ehr-marketplace/tests/support/dev-stack";

const root = new URL("../../", import.meta.url).pathname;
const limitSeconds = 180;
/** It builds the pages and fills the databases, which takes minutes on a busy machine. */
const patienceMs = 600_000;
const run = promisify(execFile);

const shellPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

/** That of a new user's shell: without what `npm test` adds, such as the project's own Node in the path. */
function readShellEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle)_|NODE_|INIT_CWD)/.test(name),
  );
  return { ...Object.fromEntries(entries), PATH: shellPath };
}

/** As a new user does, whose npm has no cache. */
async function install(directory: string): Promise<void> {
  const env = { ...readShellEnvironment(), npm_config_cache: join(directory, "../npm-cache") };
  await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: directory, env });
}

/** Hard links take a second, and no space; they are impossible on another file system. */
async function linkDependencies(directory: string): Promise<void> {
  const folders = ["node_modules", "{dev,tests,bench}/node_modules", "{packages,services}/*/node_modules"];
  for await (const folder of glob(folders, { cwd: root })) {
    const [from, to] = [join(root, folder), join(directory, folder)];
    await run("cp", ["--archive", "--link", from, to]).catch(async () => {
      await rm(to, { recursive: true, force: true });
      await run("cp", ["--archive", "--reflink=auto", from, to]);
    });
  }
  // Files in it are written in place.
  await rm(join(directory, "node_modules/.cache"), { recursive: true, force: true });
}

test("a new user clones, installs and starts, and has the storefront on screen within three minutes", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const browser = await launchChromium(cleanUp);
  const folder = await mkdtemp(join(tmpdir(), "ehr-marketplace-clone-"));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  // If the test runs as root, PostgreSQL runs as another user, and its programs are below.
  await chmod(folder, 0o755);
  const directory = join(folder, "ehr-marketplace");
  const began = performance.now();
  const dependencies = isFullRun ? "npm ci" : "linked dependencies";
  /** Prints each step when it is done, so that one that fails later doesn't hide the times. */
  const note = (step: string): number => {
    const seconds = (performance.now() - began) / 1_000;
    t.diagnostic(`${step} after ${seconds.toFixed(1)} s (${dependencies})`);
    return seconds;
  };

  const options = ["-c", "safe.directory=*", "clone", "--quiet"];
  await run("git", [...options, root, directory], { env: readShellEnvironment() });
  note("cloned");
  await (isFullRun ? install : linkDependencies)(directory);
  note("installed");
  const stack = await startDevStack(cleanUp, {
    directory,
    environment: { PATH: shellPath, LOG_LEVEL: "info" },
    patienceMs,
  });
  note("ready");
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(stack.webUrl);
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.doesNotMatch(stack.output(), /(closed a|charged an open) month/, "the worker has nothing to catch up on");
  await page.getByRole("heading", { name: "Northwind Scribe" }).first().waitFor();
  await page.waitForFunction("[...document.images].some((image) => image.complete && image.naturalWidth > 0)");
  const shown = note("on screen");
  if (isFullRun) assert.ok(shown < limitSeconds, `on screen after ${shown.toFixed(1)} s, not ${limitSeconds}`);
});
