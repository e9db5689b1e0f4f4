import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, root), "utf8");
const scope = "@ehr-marketplace/";

/** The packages that a workspace needs at run time, with those that these need. */
async function findPackages(workspace: string, found = new Set<string>()): Promise<Set<string>> {
  const { dependencies = {} } = JSON.parse(await read(`${workspace}/package.json`)) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith(scope))) {
    const path = `packages/${name.slice(scope.length)}`;
    if (found.has(path)) continue;
    found.add(path);
    await findPackages(path, found);
  }
  return found;
}

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, path = ""]) => path);

for (const [name, service] of [
  ["EHR", "services/ehr"],
  ["web", "services/web"],
] as const) {
  test(`the ${name}'s image contains every package that the service needs, and no other`, async () => {
    const packages = [...(await findPackages(service))].toSorted();
    const dockerfile = await read(`${service}/Dockerfile`);
    assert.deepEqual(matches(dockerfile, /^COPY (packages\/[^/ ]+)\/package\.json /gm), packages);
    assert.deepEqual(matches(dockerfile, /^COPY (packages\/[^/ ]+) /gm), packages);
    assert.deepEqual(matches(await read(`${service}/Dockerfile.dockerignore`), /^!(packages\/.+)$/gm), packages);
  });
}
