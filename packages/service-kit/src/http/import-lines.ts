import { setImmediate as nextEventLoopTurn } from "node:timers/promises";
import { type ImportProblem, type ImportResult, maxImportLineBytes, maxImportLines } from "@ehr-marketplace/contracts";
import type { FastifyInstance } from "fastify";
import { decodeUtf8 } from "./decode-utf8.ts";
import { parseLine, toLineProblem } from "./parse-line.ts";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

export const ndjsonMediaType = "application/x-ndjson";

export const importProblems = {
  duplicateKey: {
    code: "duplicate-key",
    status: 422,
    title: "An earlier line of the import has the same key",
    advice:
      "Only in results of imports. Keep one line for each alias or slug, and import the others in another request.",
  },
} satisfies Record<string, ProblemKind>;

/** The response of a route that imports lines, for the API reference. */
export const importResponse: object = {
  description: "One line for each line of the body that isn't blank, in the same order",
  content: { [ndjsonMediaType]: { schema: { $ref: "ImportResult#" } } },
};

/** The field that identifies the object of a line. */
type KeyField = "alias" | "slug";

export type StoredLine = Pick<ImportResult, "secret"> & { status: "created" | "updated" | "unchanged" };

export interface LineImport<T extends object> {
  keyField: KeyField & keyof T;
  /** Throws a problem for an invalid value. */
  validate: (value: unknown) => T;
  /** Checks that need I/O, outside the transaction. Throws a problem. */
  check?: (value: T) => Promise<void>;
  /** Stores values with different keys in one transaction. Returns the results in the same order. */
  store: (values: T[]) => Promise<StoredLine[]>;
}

/** Accepts only NDJSON in this scope, as one text. */
export function acceptNdjson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(ndjsonMediaType, { parseAs: "buffer" }, (_request, body, done) =>
    done(null, decodeUtf8(body as Buffer)),
  );
}

interface Entry<T> {
  line: number;
  key: string | undefined;
  value?: T;
  problem?: ImportProblem;
}

/** Stores the valid lines of a text in one transaction. Returns the results as NDJSON. */
export async function importLines<T extends object>(lineImport: LineImport<T>, text: string): Promise<string> {
  const { keyField, check, store } = lineImport;
  const lineOfKey = new Map<string, number>();
  const entries = await mapInSlices(splitLines(text), (numbered) => parseEntry(lineImport, numbered, lineOfKey));
  if (check !== undefined) await Promise.all(await mapInSlices(entries, (entry) => startCheck(entry, check)));
  const values = entries.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const stored = (values.length === 0 ? [] : await store(values)).values();
  const results = entries.map(({ line, key, problem }): ImportResult => {
    const numbered = { line, ...(key === undefined ? {} : { [keyField]: key }) };
    if (problem !== undefined) return { ...numbered, status: "refused", problem };
    const result = stored.next().value;
    if (result === undefined) throw new Error("a line has no result");
    return { ...numbered, ...result };
  });
  return results.map((result) => `${JSON.stringify(result)}\n`).join("");
}

interface NumberedLine {
  /** Counted from 1. */
  line: number;
  text: string;
}

/** The lines that aren't blank. */
function splitLines(body: string): NumberedLine[] {
  // The limit keeps a text of newlines from becoming a million lines.
  const lines = body.split("\n", maxImportLines + 2);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length <= maxImportLines) {
    return lines.map((text, index) => ({ line: index + 1, text })).filter(({ text }) => text.trim() !== "");
  }
  const detail = `The body has more than ${maxImportLines} lines. Nothing was imported. Split the file, and send the parts one after another.`;
  throw new Problem(standardProblems.payloadTooLarge, detail);
}

/** The event loop serves other requests after this time. */
const sliceMs = 10;

/** Maps all items, and lets other requests be served meanwhile. */
export async function mapInSlices<T, R>(items: T[], map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  let sliceStartedAt = performance.now();
  for (const [index, item] of items.entries()) {
    results.push(map(item, index));
    if (performance.now() - sliceStartedAt < sliceMs) continue;
    await nextEventLoopTurn();
    sliceStartedAt = performance.now();
  }
  return results;
}

function parseEntry<T extends object>(
  { keyField, validate }: LineImport<T>,
  { line, text }: NumberedLine,
  lineOfKey: Map<string, number>,
): Entry<T> {
  let key: string | undefined;
  try {
    if (Buffer.byteLength(text) > maxImportLineBytes) {
      throw new Problem(standardProblems.payloadTooLarge, `The line has more than ${maxImportLineBytes} bytes.`);
    }
    const parsed = parseLine(text);
    key = readKey(parsed, keyField);
    const earlier = key === undefined ? undefined : lineOfKey.get(key);
    if (earlier !== undefined) {
      throw new Problem(importProblems.duplicateKey, `Line ${earlier} has the same ${keyField}.`);
    }
    if (key !== undefined) lineOfKey.set(key, line);
    return { line, key, value: validate(parsed) };
  } catch (error) {
    return { line, key, problem: toProblemOfLine(error) };
  }
}

function startCheck<T>(entry: Entry<T>, check: (value: T) => Promise<void>): Promise<void> {
  const checked = checkEntry(entry, check);
  // Another slice may run before its failure is awaited.
  checked.catch(() => undefined);
  return checked;
}

async function checkEntry<T>(entry: Entry<T>, check: (value: T) => Promise<void>): Promise<void> {
  if (entry.value === undefined) return;
  try {
    await check(entry.value);
  } catch (error) {
    entry.problem = toProblemOfLine(error);
    delete entry.value;
  }
}

function toProblemOfLine(error: unknown): ImportProblem {
  if (error instanceof Problem) return toLineProblem(error);
  throw error;
}

const maxKeyLength = 64;

function readKey(value: unknown, field: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const key = (value as Record<string, unknown>)[field];
  return typeof key === "string" && key.length <= maxKeyLength ? key : undefined;
}
