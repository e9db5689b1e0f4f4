// Which test file runs when. `npm test` runs the gate, `npm run test:slow` the slow tier:
//   - files named *.slow.test.ts, whose subject takes minutes, or measures time, CPU time or memory
//   - files that do more there (`rounds`) or measure there (`promisedMs`, `assertCpuTime`, `assertPrompt`)
//   - files of services and of service-kit/database, on the newest PostgreSQL; the gate runs them on the oldest
import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { relative } from "node:path";
import { createImportGraph } from "./import-graph.ts";

export const workspaces = ["packages", "services", "dev", "bench", "tests"];

export interface Tiers {
  gate: string[];
  slow: string[];
}

export type PostgresVersion = "oldest" | "newest";

const isSlow = (file: string): boolean => file.endsWith(".slow.test.ts");

/** Those that run statements of services, or of service-kit, themselves. */
const runsOnBoth = (file: string): boolean =>
  /^(services\/[^/]+\/src|packages\/service-kit\/src\/database)\//.test(file);

/** The version that the gate runs a file on. The others, such as the local stack, run on the one that comes with `npm ci`. */
export const gatePostgres = (file: string): PostgresVersion => (runsOnBoth(file) ? "oldest" : "newest");

/** Paths relative to the repository, whose folder this process runs in. */
export const findFiles = async (patterns: string[]): Promise<string[]> =>
  (await Array.fromAsync(glob(patterns, { exclude: ["**/node_modules/**"] })))
    .map((file) => relative(".", file))
    .toSorted();

/** Where a module does more in the slow tier. */
const more = /\b(rounds|promisedMs|assertCpuTime|assertPrompt)\(|\bisFullRun\b/;

/** Of these files, those that do more in the slow tier: themselves, or a module of tests that they import. */
export function findDoingMore(files: string[]): string[] {
  const graph = createImportGraph();
  const modules = new Map<string, boolean>();
  const doesMore = (module: string): boolean => {
    const known = modules.get(module);
    if (known !== undefined) return known;
    const isOfTests = /^tests\/|\.test(-support)?\.ts$/.test(module);
    const found = isOfTests && more.test(readFileSync(module, "utf8"));
    modules.set(module, found);
    return found;
  };
  return files.filter((file) => [...graph.filesOf(file)].some(doesMore));
}

export async function readTiers(): Promise<Tiers> {
  const files = await findFiles(workspaces.map((folder) => `${folder}/**/*.test.ts`));
  return { gate: files.filter((file) => !isSlow(file)), slow: files.filter(isSlow) };
}

/** The files of the gate that the slow tier repeats on the other version. */
export const onOtherPostgres = ({ gate }: Tiers): string[] => gate.filter(runsOnBoth);
