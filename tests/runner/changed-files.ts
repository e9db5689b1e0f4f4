import { execFileSync } from "node:child_process";
import { createImportGraph } from "./import-graph.ts";

const git = (...args: string[]): string[] =>
  execFileSync("git", ["-c", "safe.directory=*", ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .split("\n")
    .filter((line) => line !== "");

/** The commit that the work began with: where the branch left the main one, or the last commit if there is no other branch. */
function findBase(): string {
  for (const branch of ["origin/main", "main"]) {
    try {
      const [base] = git("merge-base", "HEAD", branch);
      if (base !== undefined) return base;
    } catch {
      // No such branch.
    }
  }
  return "HEAD";
}

/** Files that differ from the main branch, committed or not, also new ones. */
export const findChangedFiles = (): string[] => [
  ...new Set([...git("diff", "--name-only", findBase()), ...git("ls-files", "--others", "--exclude-standard")]),
];

const isDocument = (file: string): boolean => file.endsWith(".md");
const runsDocuments = (test: string): boolean => test.startsWith("tests/journeys/guides.");
/** They take a second, and read files of all kinds. */
const readsAnything = (test: string): boolean => test.startsWith("tests/documents/");

/**
 * The test files that a change concerns: those that import a changed file. What is in the template databases, and what no
 * test imports, such as migrations, JSON and lock files, or modules that are started by their path, concern all tests.
 */
export function affectedBy(changed: string[], tests: string[]): string[] {
  const graph = createImportGraph();
  const filesOf = new Map(tests.map((test) => [test, graph.filesOf(test)]));
  const isKnown = (file: string): boolean => [...filesOf.values()].some((files) => files.has(file));
  const mayConcernAll = (file: string): boolean =>
    /\.(sql|json)$|^dev\/src\/demo-data\/|^tests\/runner\//.test(file) || !(isDocument(file) || isKnown(file));
  if (changed.some(mayConcernAll)) return tests;
  return tests.filter(
    (test) =>
      readsAnything(test) ||
      (runsDocuments(test) && changed.some(isDocument)) ||
      changed.some((file) => filesOf.get(test)?.has(file)),
  );
}
