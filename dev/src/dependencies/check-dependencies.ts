// Fails on dependencies without integrity, with an unreviewed install script, or with a licence that isn't allowed.
import { readFile } from "node:fs/promises";
import { type Dependencies, findLockProblems } from "./lock-problems.ts";

const read = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8")) as T;

const { packages } = await read<Pick<Dependencies, "packages">>("package-lock.json");
const { allowScripts } = await read<Pick<Dependencies, "allowScripts">>("package.json");
const problems = findLockProblems({ packages, allowScripts });
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${Object.keys(packages).length} locked packages have valid integrity, install scripts and licences`);
