import assert from "node:assert/strict";
import { PassThrough, Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import type { ImportResult, ImportSummary } from "@ehr-marketplace/contracts";
import { eventually } from "@ehr-marketplace/test-kit";
import { type ImportLimits, importLimits, importLines, type LineImport, type StoredLine } from "./import-lines.ts";
import { LineSplitter } from "./ndjson-lines.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

interface Item {
  key: string;
  size?: number;
}

/** Stores in memory, like a table with `key` as its primary key. */
function createStore(onStore: (batch: Item[]) => Promise<void> = async () => undefined) {
  const items = new Map<string, number | undefined>();
  const batches: string[][] = [];
  const lineImport: LineImport<Item> = {
    keyField: "key",
    validate(value) {
      const item = value as Item;
      if (item.key === "bad") throw new Problem(standardProblems.invalidRequest, "The key is bad.");
      return item;
    },
    async store(batch) {
      await onStore(batch);
      batches.push(batch.map(({ key }) => key));
      return batch.map(({ key, size }): StoredLine => {
        const status = !items.has(key) ? "created" : items.get(key) === size ? "unchanged" : "updated";
        items.set(key, size);
        return { status };
      });
    },
  };
  return { items, batches, lineImport };
}

interface RunOptions {
  fromLine?: number;
  limits?: Partial<ImportLimits>;
  output?: PassThrough;
  isStopping?: () => boolean;
}

async function run(lineImport: LineImport<Item>, input: Readable, options: RunOptions = {}) {
  const { fromLine = 1, limits, output = new PassThrough(), isStopping = () => false } = options;
  const outcome = await importLines(lineImport, {
    input,
    output,
    fromLine,
    isStopping,
    limits: { ...importLimits, lingerMs: 20, ...limits },
  });
  await outcome.finish();
  return outcome;
}

async function readResults(output: Readable): Promise<{ results: ImportResult[]; summary: ImportSummary }> {
  const lines = (await text(output)).trimEnd().split("\n");
  const results = lines.map((line) => JSON.parse(line) as ImportResult);
  const summary = results.pop() as unknown as ImportSummary;
  return { results, summary };
}

async function runAll(lineImport: LineImport<Item>, input: Readable, options: RunOptions = {}) {
  const output = new PassThrough();
  const [read, { error }] = await Promise.all([readResults(output), run(lineImport, input, { ...options, output })]);
  return { ...read, error };
}

const linesOf = (count: number): string => Array.from({ length: count }, (_, index) => `{"key":"${index}"}\n`).join("");
const inChunks = (content: string, bytes: number): Readable => {
  const buffer = Buffer.from(content);
  const chunks = Array.from({ length: Math.ceil(buffer.length / bytes) }, (_, index) =>
    buffer.subarray(index * bytes, (index + 1) * bytes),
  );
  return Readable.from(chunks, { objectMode: false });
};

describe("LineSplitter", () => {
  test("finds the same lines however the bytes are divided, and continues after a line that is too long", () => {
    const content = Buffer.from(`\n\r\n{"a":"é€💊"}\n${"x".repeat(41)}\n${"y".repeat(40)}\n\xff`, "utf8");
    const bytes = Buffer.concat([content, Buffer.from([0xff, 0x0a]), Buffer.from("last")]);
    for (let size = 1; size <= bytes.length; size += 1) {
      const splitter = new LineSplitter(40);
      const lines = [];
      for (let start = 0; start < bytes.length; start += size) {
        lines.push(...splitter.split(bytes.subarray(start, start + size)));
      }
      lines.push(...splitter.end());
      assert.deepEqual(
        lines.map(({ line, text: found, error }) => [line, found ?? error]),
        [
          [1, ""],
          [2, "\r"],
          [3, '{"a":"é€💊"}'],
          [4, "has more than 40 bytes"],
          [5, "y".repeat(40)],
          [6, "is not valid UTF-8"],
          [7, "last"],
        ],
      );
    }
  });
});

describe("importLines", () => {
  test("returns a result for each line in order, and then the totals", async () => {
    const content = '{"key":"a"}\n\n{"key":"bad"}\n{"key":"b"}\r\n{"key":"a","size":2}\n{"key":"a","size":2}';
    for (const bytes of [1, 7, 1_000]) {
      const { lineImport, items } = createStore();
      const { results, summary } = await runAll(lineImport, inChunks(content, bytes));
      assert.deepEqual(results, [
        { line: 1, key: "a", status: "created" },
        { line: 3, key: "bad", status: "refused", problem: { code: "invalid-request", detail: "The key is bad." } },
        { line: 4, key: "b", status: "created" },
        { line: 5, key: "a", status: "updated" },
        { line: 6, key: "a", status: "unchanged" },
      ]);
      assert.deepEqual(summary, { lines: 6, created: 2, updated: 1, unchanged: 1, refused: 1 });
      assert.deepEqual(
        [...items],
        [
          ["a", 2],
          ["b", undefined],
        ],
      );
    }
  });

  test("a batch has at most the allowed lines and bytes, and each key once", async () => {
    const { lineImport, batches } = createStore();
    await runAll(lineImport, inChunks(`${linesOf(7)}{"key":"6"}\n`, 10_000), { limits: { batchLines: 3 } });
    assert.deepEqual(batches, [["0", "1", "2"], ["3", "4", "5"], ["6"], ["6"]]);
    const byBytes = createStore();
    await runAll(byBytes.lineImport, inChunks(linesOf(4), 10_000), { limits: { batchBytes: 20 } });
    assert.deepEqual(byBytes.batches, [
      ["0", "1"],
      ["2", "3"],
    ]);
  });

  test("a line that waits for more lines is stored after a while", async () => {
    const { lineImport } = createStore();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const ended = run(lineImport, input, { output, limits: { batchMs: 5 } });
    input.write('{"key":"a"}\n');
    await eventually("its result is there", 5_000, async () => output.readableLength > 0);
    input.end();
    output.resume();
    await ended;
  });

  test("no result is written before its batch is stored", async () => {
    const [called, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { lineImport } = createStore(() => {
      called.resolve();
      return stored.promise;
    });
    const output = new PassThrough();
    const ended = run(lineImport, inChunks(linesOf(1), 100), { output, limits: { batchMs: 1 } });
    await called.promise;
    await new Promise(setImmediate);
    assert.equal(output.readableLength, 0);
    stored.resolve();
    const { results } = await readResults(output);
    assert.equal(results.length, 1);
    await ended;
  });

  test("stops reading while the client doesn't read the results, and ends if that takes too long", async () => {
    let sent = 0;
    const input = new Readable({
      highWaterMark: 1_024,
      read() {
        sent += 1;
        this.push(`{"key":"${sent}"}\n`);
      },
    });
    const { lineImport, items } = createStore();
    const output = new PassThrough({ highWaterMark: 1_024 });
    await run(lineImport, input, { output, limits: { batchLines: 10, idleMs: 50 } });
    assert.ok(output.destroyed);
    assert.ok(items.size > 0 && items.size < 200, `${items.size} were stored`);
    assert.ok(sent < 1_000, `${sent} lines were read`);
    input.destroy();
  });

  test("ends after the current batch when the client is gone", async () => {
    const output = new PassThrough();
    const { lineImport, items } = createStore(async () => {
      output.destroy();
    });
    await run(lineImport, inChunks(linesOf(100), 10_000), { output, limits: { batchLines: 10 } });
    assert.equal(items.size, 10);
    const input = new PassThrough();
    const other = createStore();
    const ended = run(other.lineImport, input);
    input.write(linesOf(3));
    input.destroy(new Error("aborted"));
    await ended;
    assert.equal(other.items.size, 0);
  });

  for (const [what, limits, code] of [
    ["more lines than allowed", { maxLines: 5 }, "payload-too-large"],
    ["more bytes than allowed", { maxBytes: 70 }, "payload-too-large"],
  ] as const) {
    test(`${what}: imports those before, and says where to go on`, async () => {
      const { lineImport, items } = createStore();
      const { results, summary } = await runAll(lineImport, inChunks(linesOf(10), 12), { limits });
      assert.equal(summary.problem?.code, code);
      assert.deepEqual([results.length, summary.lines], [5, 5]);
      assert.equal(items.size, 5);
      const rest = await runAll(lineImport, inChunks(linesOf(10), 12), { fromLine: summary.lines + 1 });
      assert.deepEqual(rest.summary, { lines: 10, created: 5, updated: 0, unchanged: 0, refused: 0 });
    });
  }

  test("an upload that stops ends with its results", async () => {
    const { lineImport } = createStore();
    const input = new PassThrough();
    input.write(`${linesOf(2)}{"key":"half`);
    const { results, summary } = await runAll(lineImport, input, { limits: { idleMs: 20, batchMs: 5 } });
    assert.deepEqual([results.length, summary.lines, summary.problem?.code], [2, 2, "request-timeout"]);
  });

  test("a process that stops ends the import after a batch", async () => {
    const { lineImport, items } = createStore();
    const input = new PassThrough();
    input.write(linesOf(2));
    const isStopping = (): boolean => items.size > 0;
    const { summary } = await runAll(lineImport, input, { isStopping, limits: { batchMs: 5 } });
    assert.deepEqual([summary.created, summary.lines, summary.problem?.code], [2, 2, "unavailable"]);
  });

  test("a batch that can't be stored ends the import, and names the last line that was", async () => {
    let batch = 0;
    const failure = new Error("a secret of the database");
    const { lineImport } = createStore(async () => {
      batch += 1;
      if (batch === 3) throw failure;
    });
    const { results, summary, error } = await runAll(lineImport, inChunks(linesOf(10), 1_000), {
      limits: { batchLines: 2 },
    });
    assert.deepEqual([results.length, summary.lines, summary.created, error], [4, 4, 4, failure]);
    assert.equal(summary.problem?.code, "internal-error");
    assert.doesNotMatch(JSON.stringify(summary), /secret/);
  });

  test("other work is done while lines are parsed", async () => {
    const { lineImport } = createStore();
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const validate = (value: unknown): Item => {
      const until = performance.now() + 5;
      while (performance.now() < until);
      return value as Item;
    };
    const output: Writable = new PassThrough().resume();
    await run({ ...lineImport, validate }, inChunks(linesOf(20), 10_000), { output: output as PassThrough });
    clearImmediate(timer);
    assert.ok(turns >= 8, `${turns} turns of the event loop`);
  });
});
