import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HighlightedText } from "@ehr-marketplace/contracts";
import { highlight, highlightExcerpt, toPhrases, wordsIn } from "./highlight.ts";

/** Stems by removing a plural's s, for these tests. */
const stemsOf = (text: string): Map<string, string> =>
  new Map(wordsIn(text).map((word) => [word, word.toLowerCase().replace(/s$/, "")]));
const marked = (parts: HighlightedText | undefined): string | undefined =>
  parts?.map(({ text, match }) => (match ? `[${text}]` : text)).join("");
const mark = (text: string, ...phrases: string[]): string | undefined =>
  marked(highlight(text, toPhrases(phrases.map((phrase) => phrase.split(" "))), stemsOf(text)));

describe("highlight", () => {
  test("marks words in any form, and keeps the text as it is", () => {
    assert.equal(mark("Video visits, and more Visits.", "visit"), "Video [visits], and more [Visits].");
  });

  test("marks a phrase as one, also over punctuation, and not its words alone", () => {
    assert.equal(mark("No-shows: we show no mercy", "no show"), "[No-shows]: we show no mercy");
  });

  test("prefers the longer of two phrases that begin alike", () => {
    assert.equal(mark("Blood pressure at home", "blood", "blood pressure"), "[Blood pressure] at home");
  });

  test("takes time in proportion to the text, also if every word matches", () => {
    const text = "a ".repeat(100_000);
    assert.equal(highlight(text, toPhrases([["a"]]), stemsOf("a"))?.length, 200_000);
  });

  test("is undefined if nothing matches", () => {
    assert.equal(mark("Video visits", "fax"), undefined);
    assert.equal(mark("", "fax"), undefined);
  });

  test("marks nothing that could be mistaken for markup: parts are plain text", () => {
    assert.deepEqual(highlight("<b>fax</b>", toPhrases([["fax"]]), stemsOf("<b>fax</b>")), [
      { text: "<b>", match: false },
      { text: "fax", match: true },
      { text: "</b>", match: false },
    ]);
  });
});

describe("highlightExcerpt", () => {
  const excerpt = (text: string, phrase: string): string | undefined =>
    marked(highlightExcerpt(text, toPhrases([phrase.split(" ")]), stemsOf(text)));

  test("is the part around the first match, in whole words", () => {
    const text = `${"before ".repeat(50)}the fax machine ${"after ".repeat(100)}`;
    const found = excerpt(text, "fax") ?? "";
    assert.match(found, /^(before )+the \[fax\] machine( after)+$/);
    assert.ok(found.length < 280, found);
  });

  test("is the whole of a short text", () => {
    assert.equal(excerpt("Fax and scan", "scan"), "Fax and [scan]");
    assert.equal(excerpt("fax", "fax"), "[fax]");
  });

  test("a match without a space nearby is kept", () => {
    assert.equal(excerpt(`${"x".repeat(300)}-fax`, "fax"), "[fax]");
  });
});
