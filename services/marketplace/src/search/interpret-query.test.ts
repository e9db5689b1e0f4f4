import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Concept, interpretQuery, type QueryPhrase, type QueryWord } from "./interpret-query.ts";

const word = (text: string, given: Partial<QueryWord> = {}): QueryWord => ({
  word: text,
  isStopWord: false,
  apps: 1,
  isKnown: true,
  completions: [],
  ...given,
});
const phrase = (start: number, length: number, means: string[], related: string[] = []): QueryPhrase => ({
  start,
  length,
  means,
  related,
});
const interpret = (words: QueryWord[], phrases: QueryPhrase[] = []): Concept[] =>
  interpretQuery({ words, phrases, catalogSize: 100 });
const exact = ({ alternatives }: Concept): string[] =>
  alternatives.filter(({ isLoose }) => !isLoose).map((alternative) => alternative.phrase);

describe("interpretQuery", () => {
  test("makes a concept of each word", () => {
    assert.deepEqual(interpret([word("claims"), word("denials")]).map(exact), [["claims"], ["denials"]]);
  });

  test("takes the longest phrase that has synonyms as one concept", () => {
    const words = [word("home"), word("blood"), word("pressure")];
    const [first, second, ...rest] = interpret(words, [phrase(1, 1, ["haem"]), phrase(1, 2, ["bp"])]);
    assert.deepEqual(rest, []);
    assert.deepEqual(exact(first as Concept), ["home"]);
    assert.deepEqual(exact(second as Concept), ["blood pressure", "bp", "blood", "pressure", "haem"]);
  });

  test("what was typed counts more than a synonym, and that more than a related word, and words apart least", () => {
    const [concept] = interpret([word("video"), word("visit")], [phrase(0, 2, ["telehealth"], ["remote care"])]);
    assert.deepEqual(
      concept?.alternatives.map(({ phrase: each, isLoose }) => (isLoose ? `${each}, apart` : each)),
      ["video visit", "telehealth", "remote care", "video visit, apart", "video", "visit", "remote care, apart"],
    );
  });

  test("ignores stop words, unless there are only stop words or a phrase has them", () => {
    const stop = (text: string): QueryWord => word(text, { isStopWord: true });
    assert.deepEqual(interpret([stop("the"), word("fax")]).map(exact), [["fax"]]);
    assert.deepEqual(interpret([stop("all"), stop("in")]).map(exact), [["all"], ["in"]]);
    assert.deepEqual(interpret([stop("no"), word("show")], [phrase(0, 2, ["missed"])]).map(exact), [
      ["no show", "missed", "show"],
    ]);
  });

  test("a common word weighs less than a rare one, and a word such as “software” little however rare", () => {
    const weight = (of: QueryWord): number => interpret([of])[0]?.weight ?? 0;
    assert.ok(weight(word("heart", { apps: 2 })) > weight(word("visit", { apps: 10 })));
    assert.ok(weight(word("software", { apps: 0 })) < weight(word("visit", { apps: 10 })));
    assert.ok(weight(word("everywhere", { apps: 100 })) > 0);
  });

  test("completes the last word, with the synonyms of what it may become", () => {
    const completions = [{ word: "telehealth", means: ["video visit"] }];
    assert.deepEqual(interpret([word("teleh", { isKnown: false, completions })]).map(exact), [
      ["telehealth", "video visit"],
    ]);
  });

  test("a word that means nothing is no concept", () => {
    assert.deepEqual(interpret([word("zzxqvkkw", { isKnown: false })]), []);
    assert.deepEqual(interpret([]), []);
  });

  test("bounds the alternatives of all concepts together, and keeps what was typed", () => {
    const synonyms = Array.from({ length: 500 }, (_, index) => `synonym ${index}`);
    const words = Array.from({ length: 8 }, (_, index) => word(`word${index}`));
    const concepts = interpret(
      words,
      words.map((_, index) => phrase(index, 1, synonyms, synonyms)),
    );
    assert.deepEqual(
      concepts.map((concept) => exact(concept)[0]),
      words.map((each) => each.word),
    );
    assert.ok(concepts.flatMap(({ alternatives }) => alternatives).length <= 64);
  });
});
