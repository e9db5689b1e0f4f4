import assert from "node:assert/strict";
import { glob, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): Promise<string> => readFile(join(root, file), "utf8");

/** The text below a heading of the second level, up to the next one. */
async function sectionOf(file: string, heading: string): Promise<string> {
  const [, text] = (await read(file)).split(new RegExp(`^## ${heading}$`, "m"));
  assert.ok(text !== undefined, `${file} has no section "${heading}"`);
  return text.split(/^## /m, 1)[0] ?? "";
}

const without = (all: Iterable<string>, known: Iterable<string>): string[] => [
  ...new Set(all).difference(new Set(known)),
];

describe("CONTRIBUTING.md", () => {
  /** `npm test`, and NAME of `npm run NAME`. Scripts of a workspace (`-w …`) are not commands of the repository. */
  const scriptsIn = (markdown: string): string[] =>
    [...markdown.matchAll(/npm (?:run (?:--silent )?([\w:-]+)|(test)\b)(?![^`\n]*(?:-w|--workspace) )/g)].map(
      ([, script, npmTest]) => script ?? npmTest ?? "",
    );
  const scripts = async () => Object.keys((JSON.parse(await read("package.json")) as { scripts: object }).scripts);

  test("lists every script of package.json among its commands", async () => {
    assert.deepEqual(without(await scripts(), scriptsIn(await sectionOf("CONTRIBUTING.md", "Commands"))), []);
  });

  test("names no script that package.json doesn't have", async () => {
    const named = scriptsIn(await read("CONTRIBUTING.md"));
    assert.ok(named.length > 10);
    assert.deepEqual(without(named, await scripts()), []);
  });
});

describe("ARCHITECTURE.md", () => {
  const workspaces = ["packages", "services", "dev", "tests", "bench"];
  /** Paths between backticks, such as `services/ehr/src/launches`. */
  const pathsIn = (markdown: string): string[] =>
    [...markdown.matchAll(new RegExp(`\`((?:${workspaces.join("|")})(?:/[\\w.-]+)*)/?\``, "g"))].map(
      ([, path = ""]) => path,
    );
  const modules = async (): Promise<string[]> => {
    const found = await Array.fromAsync(glob(["packages/*", "services/*", "services/*/src/*"], { cwd: root }));
    const areFolders = await Promise.all(found.map(async (path) => (await stat(join(root, path))).isDirectory()));
    return [...found.filter((_, nth) => areFolders[nth]), "dev", "tests", "bench"];
  };

  test("lists every module", async () => {
    const all = await modules();
    assert.ok(all.includes("services/marketplace/src/catalog"));
    assert.deepEqual(without(all, pathsIn(await sectionOf("ARCHITECTURE.md", "Modules"))), []);
  });

  test("lists no module that doesn't exist", async () => {
    const missing: string[] = [];
    for (const path of pathsIn(await sectionOf("ARCHITECTURE.md", "Modules"))) {
      await stat(join(root, path)).catch(() => missing.push(path));
    }
    assert.deepEqual(missing, []);
  });
});
