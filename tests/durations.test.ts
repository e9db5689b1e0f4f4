import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { longestFirst, readDurations, sumOf, writeDurations } from "./durations.ts";

const short = "packages/contracts/src/short.test.ts";
const long = "packages/contracts/src/long.test.ts";

test("the files that took longest run first, and faults before others that have not run yet", () => {
  const fault = "tests/faults/new.test.ts";
  assert.deepEqual(longestFirst([short, fault, long], { [short]: 10, [long]: 200_000 }), [long, fault, short]);
  assert.deepEqual(longestFirst([short, long, fault], {}), [fault, short, long]);
});

test("the estimate adds recorded durations, and a default for other files", () => {
  assert.equal(sumOf([short, long], { [short]: 10, [long]: 30 }), 40);
  assert.ok(sumOf([short, long], { [short]: 10 }) > 1_000);
});

test("durations are read as they were written; none are read from a missing or damaged file", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "durations-"));
  t.after(() => rm(directory, { recursive: true }));
  const file = pathToFileURL(join(directory, "cache", "durations.json"));
  assert.deepEqual(await readDurations(file), {});
  await writeDurations(file, { [short]: 10 });
  assert.deepEqual(await readDurations(file), { [short]: 10 });
  await writeFile(file, `{"${short}": 10, "${long}`);
  assert.deepEqual(await readDurations(file), {});
  await writeFile(file, `{"${short}": "long", "${long}": 3}`);
  assert.deepEqual(await readDurations(file), { [long]: 3 });
});
