import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay, setImmediate as nextEventLoopTurn } from "node:timers/promises";
import {
  type ImportProblem,
  type ImportResult,
  type ImportSummary,
  maxImportLineBytes,
  maxImportLines,
} from "@ehr-marketplace/contracts";
import { isDatabaseUnavailable } from "../database/database-unavailable.ts";
import { LineSplitter, type NdjsonLine } from "./ndjson-lines.ts";
import { parseLine, toLineProblem } from "./parse-line.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

export interface StoredLine {
  status: "created" | "updated" | "unchanged";
  /** Generated for a new organisation. */
  secret?: string;
}

export interface LineImport<T> {
  /** The field that identifies the object of a line. */
  keyField: string & keyof T;
  /** Throws a problem for an invalid value. */
  validate: (value: unknown) => T;
  /** Checks that need I/O, outside a transaction. Throws a problem. */
  check?: (value: T) => Promise<void>;
  /** Stores values with different keys in one transaction. Returns the results in the same order. */
  store: (values: T[]) => Promise<StoredLine[]>;
}

export interface ImportLimits {
  maxBytes: number;
  maxLines: number;
  maxLineBytes: number;
  batchLines: number;
  batchBytes: number;
  /** A batch is stored at the latest after this time, so that a slow upload gets its results. */
  batchMs: number;
  /** Without progress of the client, in either direction, the import ends. */
  idleMs: number;
  /** How long the rest of an upload is read and discarded after an import that ended early. */
  lingerMs: number;
}

export const importLimits: ImportLimits = {
  maxBytes: 1_073_741_824,
  maxLines: maxImportLines,
  maxLineBytes: maxImportLineBytes,
  batchLines: 500,
  batchBytes: 262_144,
  batchMs: 250,
  idleMs: 30_000,
  lingerMs: 2_000,
};

export interface ImportStreams {
  input: Readable;
  output: Writable;
  fromLine: number;
  /** Whether the process is shutting down. */
  isStopping: () => boolean;
  limits: ImportLimits;
}

/** The event loop serves other requests after this time of parsing. */
const sliceMs = 10;

interface Entry<T> {
  line: number;
  key: string | null;
  value?: T;
  problem?: ImportProblem;
}

/** The client is gone, or doesn't read the results: nobody can be told. */
class ClientGoneError extends Error {}

export interface ImportOutcome {
  summary: ImportSummary;
  /** Unexpected, for the log. */
  error?: unknown;
  /** Ends the response with the summary. */
  finish: () => Promise<void>;
}

/**
 * Reads lines, stores them in batches, and writes a result for each line after its batch was committed. It reads only as fast as
 * the client reads the results.
 */
export async function importLines<T>(lineImport: LineImport<T>, streams: ImportStreams): Promise<ImportOutcome> {
  const { output } = streams;
  const run = new ImportRun(lineImport, streams);
  const { summary } = run;
  const destroy = (): void => void output.destroy();
  try {
    await run.readAll();
    return { summary, finish: () => run.finish().catch(destroy) };
  } catch (error) {
    if (error instanceof ClientGoneError) return { summary, finish: async () => destroy() };
    const problem = toEndProblem(error);
    summary.problem = { code: problem.kind.code, detail: problem.message };
    return { summary, ...(error instanceof Problem ? {} : { error }), finish: () => run.finish().catch(destroy) };
  }
}

function toEndProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return isDatabaseUnavailable(error)
    ? new Problem(standardProblems.unavailable, "The database is unavailable or too slow. Resume the import later.")
    : new Problem(standardProblems.internalError, "An unexpected error occurred. The last batch was not stored.");
}

class ImportRun<T> {
  readonly summary: ImportSummary = { lines: 0, created: 0, updated: 0, unchanged: 0, refused: 0 };
  readonly #import: LineImport<T>;
  readonly #streams: ImportStreams;
  readonly #splitter: LineSplitter;
  readonly #chunks: ChunkReader;
  #batch: Entry<T>[] = [];
  #keys = new Set<string>();
  #batchBytes = 0;
  #batchStartedAt = 0;
  #sliceStartedAt = performance.now();
  /** The number of the last line that was read. */
  #line = 0;

  constructor(lineImport: LineImport<T>, streams: ImportStreams) {
    this.#import = lineImport;
    this.#streams = streams;
    this.#splitter = new LineSplitter(streams.limits.maxLineBytes);
    this.#chunks = new ChunkReader(streams.input);
  }

  async readAll(): Promise<void> {
    const { limits, isStopping } = this.#streams;
    let bytes = 0;
    let lastChunkAt = performance.now();
    for (;;) {
      const chunk = await this.#chunks.next(limits.batchMs);
      if (chunk === "end") break;
      if (isStopping()) throw await this.#end(standardProblems.unavailable, "The service is being restarted.");
      if (chunk !== "none") {
        lastChunkAt = performance.now();
        bytes += chunk.length;
        if (bytes > limits.maxBytes) {
          throw await this.#end(standardProblems.payloadTooLarge, "The upload is larger than 1 GiB. Split the file.");
        }
        for (const line of this.#splitter.split(chunk)) await this.#take(line);
      } else if (performance.now() - lastChunkAt > limits.idleMs) {
        throw await this.#end(standardProblems.requestTimeout, "Nothing was received for too long.");
      }
      if (performance.now() - this.#batchStartedAt >= limits.batchMs) await this.#storeBatch();
    }
    for (const line of this.#splitter.end()) await this.#take(line);
    await this.#storeBatch();
  }

  async finish(): Promise<void> {
    const { output, limits } = this.#streams;
    await this.#write(`${JSON.stringify(this.summary)}\n`);
    // Closing while the client is still sending would reset the connection before the client has read the summary.
    if (this.summary.problem !== undefined) await this.#chunks.waitForEnd(limits.lingerMs);
    output.end();
  }

  /** Stores what was read before the import ends early. */
  async #end(kind: Problem["kind"], detail: string): Promise<Problem> {
    await this.#storeBatch();
    return new Problem(kind, detail);
  }

  async #take(read: NdjsonLine): Promise<void> {
    const { limits, fromLine } = this.#streams;
    if (read.line > limits.maxLines) {
      const detail = `The upload has more than ${limits.maxLines} lines. Split the file.`;
      throw await this.#end(standardProblems.payloadTooLarge, detail);
    }
    await this.#yieldAfterSlice();
    const isSkipped = read.line < fromLine || (read.text !== undefined && read.text.trim() === "");
    if (isSkipped) {
      this.#line = read.line;
      return;
    }
    const entry = this.#parse(read);
    if (entry.key !== null && entry.value !== undefined && this.#keys.has(entry.key)) await this.#storeBatch();
    this.#line = read.line;
    if (this.#batch.length === 0) this.#batchStartedAt = performance.now();
    this.#batch.push(entry);
    if (entry.key !== null && entry.value !== undefined) this.#keys.add(entry.key);
    this.#batchBytes += read.text?.length ?? 0;
    if (this.#batch.length >= limits.batchLines || this.#batchBytes >= limits.batchBytes) await this.#storeBatch();
  }

  async #yieldAfterSlice(): Promise<void> {
    if (performance.now() - this.#sliceStartedAt < sliceMs) return;
    await nextEventLoopTurn();
    this.#sliceStartedAt = performance.now();
  }

  #parse({ line, text, error }: NdjsonLine): Entry<T> {
    const { keyField, validate } = this.#import;
    let key: string | null = null;
    try {
      if (text === undefined) throw new Problem(standardProblems.invalidRequest, `The line ${error}.`);
      const parsed = parseLine(text);
      key = readKey(parsed, keyField);
      return { line, key, value: validate(parsed) };
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      return { line, key, problem: toLineProblem(problem) };
    }
  }

  async #storeBatch(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) {
      this.summary.lines = this.#line;
      return;
    }
    const { check, store } = this.#import;
    if (check !== undefined) await Promise.all(batch.map((entry) => checkEntry(entry, check)));
    const values = batch.flatMap(({ value, problem }) => (value === undefined || problem !== undefined ? [] : [value]));
    if (this.#streams.output.destroyed) throw new ClientGoneError();
    const stored = values.length === 0 ? [] : await store(values);
    this.#batch = [];
    this.#keys = new Set();
    this.#batchBytes = 0;
    let next = 0;
    const results = batch.map(({ line, key, problem }): ImportResult => {
      if (problem !== undefined) return { line, key, status: "refused", problem };
      const result = stored[next];
      next += 1;
      if (result === undefined) throw new Error("a line of the batch has no result");
      return { line, key, ...result };
    });
    for (const { status } of results) this.summary[status] += 1;
    this.summary.lines = this.#line;
    await this.#write(results.map((result) => `${JSON.stringify(result)}\n`).join(""));
    await nextEventLoopTurn();
    this.#sliceStartedAt = performance.now();
  }

  async #write(text: string): Promise<void> {
    const { output, limits } = this.#streams;
    if (output.destroyed) throw new ClientGoneError();
    if (output.write(text)) return;
    const stalled = new AbortController();
    const { signal } = stalled;
    const timer = setTimeout(() => stalled.abort(), limits.idleMs);
    try {
      await Promise.race([once(output, "drain", { signal }), once(output, "close", { signal })]);
    } catch {
      throw new ClientGoneError();
    } finally {
      clearTimeout(timer);
      stalled.abort();
    }
    if (output.destroyed) throw new ClientGoneError();
  }
}

const maxKeyLength = 64;

function readKey(value: unknown, field: string): string | null {
  if (typeof value !== "object" || value === null) return null;
  const key = (value as Record<string, unknown>)[field];
  return typeof key === "string" && key.length <= maxKeyLength ? key : null;
}

async function checkEntry<T>(entry: Entry<T>, check: (value: T) => Promise<void>): Promise<void> {
  if (entry.value === undefined) return;
  try {
    await check(entry.value);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    entry.problem = toLineProblem(problem);
  }
}

/** Reads chunks of a stream with a time limit, without destroying it: the response has the same connection. */
class ChunkReader {
  readonly #iterator: NodeJS.AsyncIterator<unknown>;
  #pending: Promise<IteratorResult<unknown>> | undefined;

  constructor(input: Readable) {
    this.#iterator = input.iterator({ destroyOnReturn: false });
  }

  async next(waitMs: number): Promise<Buffer | "end" | "none"> {
    const pending = this.#request();
    const timer = new AbortController();
    try {
      const read = await Promise.race([pending, delay(waitMs, undefined, { signal: timer.signal })]);
      if (read === undefined) return "none";
      this.#pending = undefined;
      return read.done === true ? "end" : (read.value as Buffer);
    } catch {
      throw new ClientGoneError();
    } finally {
      timer.abort();
    }
  }

  /** Discards the rest. */
  async waitForEnd(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (performance.now() < until && (await this.next(until - performance.now())) !== "end");
  }

  #request(): Promise<IteratorResult<unknown>> {
    if (this.#pending === undefined) {
      this.#pending = this.#iterator.next();
      // While a batch is stored, nobody awaits it.
      this.#pending.catch(() => undefined);
    }
    return this.#pending;
  }
}
