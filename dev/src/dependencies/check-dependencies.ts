// Fails on dependencies without integrity, with an unreviewed install script, or with a licence that isn't allowed.
import { readFile } from "node:fs/promises";
import { readArguments } from "../command-line.ts";
import { type Dependencies, findLockProblems } from "./lock-problems.ts";

const read = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8")) as T;

const usage = `Usage: npm run check:dependencies

Fails on a locked dependency without integrity, with an install script that allowScripts in package.json doesn't list, or
with a licence that isn't permissive. "… change a dependency" in CONTRIBUTING.md tells what to do about each.

  --help  print this text

Examples:
  npm run check:dependencies`;

readArguments(usage, {});
/** Those of everybody, and those of an optional command. */
const lockFiles = ["package-lock.json", "bench/lighthouse/package-lock.json"];
const locks = await Promise.all(lockFiles.map((name) => read<Pick<Dependencies, "packages">>(name)));
const { allowScripts } = await read<Pick<Dependencies, "allowScripts">>("package.json");
const problems = locks.flatMap(({ packages }) => findLockProblems({ packages, allowScripts }));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else
  console.log(
    `${locks.flatMap(({ packages }) => Object.keys(packages)).length} locked packages have valid integrity, install scripts and licences`,
  );
