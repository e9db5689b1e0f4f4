import { mkdir, readFile, writeFile } from "node:fs/promises";

/** How long each test file took when it ran last, in milliseconds. */
export type Durations = Record<string, number>;

/** Assumed of a file that has not run here before, as after `npm ci`: rough values, on 2 cores and with four files at a time. */
const defaultMs = (file: string): number => {
  if (/^tests\/(faults|journeys)\//.test(file)) return 40_000;
  return file.startsWith("tests/") ? 20_000 : 8_000;
};

export const durationOf = (file: string, known: Durations): number => known[file] ?? defaultMs(file);

export const sumOf = (files: string[], known: Durations): number =>
  files.reduce((sum, file) => sum + durationOf(file, known), 0);

/** With the longest file last, the other processes would have nothing to do until it ends. */
export const longestFirst = (files: string[], known: Durations): string[] =>
  files.toSorted((one, other) => durationOf(other, known) - durationOf(one, known));

/** An estimate only, so a file that is missing or damaged counts as empty. */
export async function readDurations(path: URL): Promise<Durations> {
  try {
    const read = JSON.parse(await readFile(path, "utf8")) as unknown;
    const entries = typeof read === "object" && read !== null ? Object.entries(read) : [];
    return Object.fromEntries(entries.filter(([, ms]) => typeof ms === "number"));
  } catch {
    return {};
  }
}

export async function writeDurations(path: URL, durations: Durations): Promise<void> {
  await mkdir(new URL(".", path), { recursive: true });
  await writeFile(path, JSON.stringify(durations, null, 1));
}
