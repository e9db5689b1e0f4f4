// Which test file runs when. `npm test` is the gate; `npm run test:slow` is everything else:
//   - files named *.slow.test.ts, whose subject takes minutes, or measures time, CPU time or memory
//   - files that do more there (`rounds`) or measure there (`assertCpuTime`, `assertPrompt`)
//   - files of services that use a database, on the newest PostgreSQL; the gate runs them on the oldest
import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const workspaces = ["packages", "services", "dev", "bench", "tests"];

export interface Tiers {
  gate: string[];
  slow: string[];
  doingMore: string[];
}

export type PostgresVersion = "oldest" | "newest";

const isSlow = (file: string): boolean => file.endsWith(".slow.test.ts");

/** Those that run statements of services, or of service-kit, themselves. */
const runsOnBoth = (file: string): boolean =>
  /^(services\/[^/]+\/src|packages\/service-kit\/src\/database)\//.test(file);

/** The version that the gate runs a file on. The others, such as the local stack, run on the one that comes with `npm ci`. */
export const gatePostgres = (file: string): PostgresVersion => (runsOnBoth(file) ? "oldest" : "newest");

export const findFiles = async (patterns: string[]): Promise<string[]> =>
  (await Array.fromAsync(glob(patterns, { exclude: ["**/node_modules/**"] }))).toSorted();

const doesMore = /\b(rounds|assertCpuTime|assertPrompt)\(|\bisFullRun\b/;

/** The file and those beside it that it imports. */
async function readWithNeighbours(file: string): Promise<string> {
  const text = await readFile(file, "utf8");
  const neighbours = [...text.matchAll(/from "(\.\/[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), path));
  const texts = await Promise.all(neighbours.map((path) => readFile(path, "utf8").catch(() => "")));
  return [text, ...texts].join("\n");
}

export async function readTiers(): Promise<Tiers> {
  const files = await findFiles(workspaces.map((folder) => `${folder}/**/*.test.ts`));
  const gate = files.filter((file) => !isSlow(file));
  const texts = await Promise.all(gate.map(readWithNeighbours));
  return {
    gate,
    slow: files.filter(isSlow),
    doingMore: gate.filter((_, nth) => doesMore.test(texts[nth] ?? "")),
  };
}

/** The files of the gate that the slow tier repeats on the other version. */
export const onOtherPostgres = ({ gate }: Tiers): string[] => gate.filter(runsOnBoth);
