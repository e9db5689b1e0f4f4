import assert from "node:assert/strict";
import { test } from "node:test";
import { findTerms } from "./find-terms.ts";

const textsIn = (source: string, path = "src/module.ts"): string[] => findTerms(path, source).map(({ text }) => text);

test("refuses a former term in each kind of declared name", () => {
  const source = `
    import { answer } from "library";
    interface Verdict { mostBytes: number }
    class Chores { judge(lane: string) { const [twin] = [lane]; return twin } }
    function ask({ place }: { place: string }) { return place }`;
  assert.deepEqual(textsIn(source), [
    "Verdict",
    "mostBytes",
    "Chores",
    "judge",
    "lane",
    "twin",
    "ask",
    "place",
    "place",
  ]);
});

test("accepts the standard term, the names of libraries and former terms in the middle of a word", () => {
  const source = `
    const response = library.answer(replaceAll, almost, wallet);
    const replaced = response.most;`;
  assert.deepEqual(textsIn(source), []);
});

test("refuses a former term in a log message and accepts it in other texts", () => {
  const source = `
    logger.warn({ err }, "the database is away; trying again");
    deps.logger.info("started");
    throw new Error("the database is away");`;
  assert.deepEqual(textsIn(source), ['"the database is away; trying again"']);
});

test("refuses a former term in a message that begins with `failed to`, wherever it is", () => {
  const source = `
    const message = "failed to send it; trying again";
    start({ failureMessage: \`failed to judge \${name}\` });
    logger.warn("failed to ask");`;
  assert.deepEqual(textsIn(source), [
    '"failed to send it; trying again"',
    "`failed to judge ${name}`",
    '"failed to ask"',
  ]);
});

test("refuses a former term in the name of a file", () => {
  assert.deepEqual(textsIn("", "src/queue/chores.ts"), ["chores.ts"]);
});

test("says what to write instead, and where", () => {
  assert.deepEqual(findTerms("a.ts", "\nconst twin = 1;"), [{ line: 2, text: "twin", use: "duplicate request" }]);
});
