import { execFile } from "node:child_process";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Figure } from "../figures.ts";
import { median } from "../measure.ts";

const filesPerFigure = 10;
const fixture = new URL("report-first-assertion.mjs", import.meta.url).href;

async function measureFile(file: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-build-"));
  const times = join(directory, "times.txt");
  const env = { ...process.env, NODE_OPTIONS: `--import=${fixture}`, FIRST_ASSERTION_FILE: times };
  const began = Date.now();
  await promisify(execFile)("npm", ["test", "--", file], { env, maxBuffer: 64 * 1_048_576 });
  const [first] = (await readFile(times, "utf8"))
    .trim()
    .split("\n")
    .map(Number)
    .toSorted((a, b) => a - b);
  await rm(directory, { recursive: true });
  const seconds = ((first ?? Number.NaN) - began) / 1_000;
  console.error(`${seconds.toFixed(2)} s ${file}`);
  return seconds;
}

/** Files spread over the folders, with or without a database. */
async function chooseFiles(pattern: string, usesDatabase: boolean): Promise<string[]> {
  const files = (await Array.fromAsync(glob(pattern))).filter((file) => !file.includes(".slow.")).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const chosen = files.filter((_, nth) => /cloneDatabase|WithCallers/.test(texts[nth] ?? "") === usesDatabase);
  return Array.from(
    { length: filesPerFigure },
    (_, nth) => chosen[Math.floor((nth * chosen.length) / filesPerFigure)] ?? "",
  );
}

/** From `npm test -- FILE` to the first assertion, one file after another, each with what it starts. */
export async function firstAssertions(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, pattern, usesDatabase, goal] of [
    ["without a database", "packages/*/src/**/*.test.ts", false, 3],
    ["with a database", "services/*/src/**/*.test.ts", true, 6],
  ] as const) {
    const files = await chooseFiles(pattern, usesDatabase);
    // Makes the template databases, unless they are there.
    await measureFile(files[0] ?? "");
    const seconds: number[] = [];
    for (const file of files) seconds.push(await measureFile(file));
    const value = median(seconds);
    const measured = `${value.toFixed(2)} s, ${Math.max(...seconds).toFixed(2)} s at most`;
    figures.push({ name: `first assertion, ${name}`, measured, reference: "", value, goal: { atMost: goal } });
  }
  return figures;
}
