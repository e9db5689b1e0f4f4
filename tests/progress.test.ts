import assert from "node:assert/strict";
import { test } from "node:test";
import { type Progress, progressText, showProgress, startText } from "./progress.ts";

const minute = 60_000;
const half: Progress = {
  files: 430,
  finishedFiles: 214,
  failedTests: 0,
  elapsedMs: 6.2 * minute,
  estimateMs: 14 * minute,
  finishedShare: 0.43,
};

test("a run says at its start how many files there are and how long they take", () => {
  assert.equal(startText(430, 14.3 * minute), "430 test files, about 14 min");
  assert.equal(startText(1, 8_000), "1 test file, under 1 min");
});

test("progress has the files, the time, the failures and what is left", () => {
  assert.equal(progressText(half), "[214/430 files, 6 min, 0 failed, about 8 min left]");
  assert.equal(
    progressText({ ...half, finishedFiles: 429, failedTests: 2, finishedShare: 0.99 }),
    "[429/430 files, 6 min, 2 failed, under 1 min left]",
  );
});

test("what is left comes from the estimate until a tenth has finished, and is never negative", () => {
  const early = { ...half, finishedFiles: 1, finishedShare: 0.01, elapsedMs: 2 * minute };
  assert.equal(progressText(early), "[1/430 files, 2 min, 0 failed, about 12 min left]");
  assert.equal(progressText({ ...early, elapsedMs: 20 * minute }), "[1/430 files, 20 min, 0 failed, under 1 min left]");
});

function record(isTTY: boolean, columns = 80) {
  let written = "";
  return { isTTY, columns, write: (text: string) => (written += text), written: () => written };
}

test("without a terminal, progress is a line of its own every 30 seconds", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const output = record(false);
  const line = showProgress(() => "[progress]", output);
  line.write("✔ one\n");
  t.mock.timers.tick(29_000);
  line.write("half a line");
  t.mock.timers.tick(1_000);
  line.write("✔ two\n");
  line.stop();
  t.mock.timers.tick(60_000);
  assert.equal(output.written(), "✔ one\nhalf a line\n[progress]\n✔ two\n");
});

test("in a terminal, progress stays below what is printed and fits on one line", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const output = record(true, 6);
  const clear = "\r\u001b[2K";
  const line = showProgress(() => "[progress]", output);
  line.write("✔ one\n");
  line.stop();
  assert.equal(output.written(), `${clear}[prog${clear}✔ one\n${clear}[prog${clear}`);
});
