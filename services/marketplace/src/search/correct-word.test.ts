import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { correctWord, type SimilarWord } from "./correct-word.ts";
import { editDistance } from "./edit-distance.ts";

describe("editDistance", () => {
  for (const [a, b, distance] of [
    ["", "", 0],
    ["fax", "fax", 0],
    ["", "fax", 3],
    ["telehelth", "telehealth", 1],
    ["telehhealth", "telehealth", 1],
    ["telexealth", "telehealth", 1],
    ["nrothwind", "northwind", 1],
    ["ca", "abc", 3],
    ["kitten", "sitting", 3],
  ] as const) {
    test(`of "${a}" and "${b}" is ${distance}, in both directions`, () => {
      assert.equal(editDistance(a, b), distance);
      assert.equal(editDistance(b, a), distance);
    });
  }
});

describe("correctWord", () => {
  const known = (word: string, apps = 1, isInSynonyms = false): SimilarWord => ({ word, apps, isInSynonyms });

  test("chooses the nearest word, then a word of the field, then the more common one", () => {
    assert.equal(correctWord("biling", [known("filing", 9), known("billing")], false), "billing");
    assert.equal(correctWord("denails", [known("details", 9), known("denials", 1, true)], false), "denials");
    assert.equal(correctWord("clams", [known("clads"), known("claims", 5)], false), "claims");
  });

  test("leaves words of up to three letters alone: they are abbreviations", () => {
    assert.equal(correctWord("avs", [known("as"), known("avis")], false), undefined);
  });

  test("accepts more mistakes in longer words", () => {
    assert.equal(correctWord("tonight", [known("tight")], false), undefined);
    assert.equal(correctWord("cardolgy", [known("cardiology")], false), "cardiology");
    assert.equal(correctWord("opthamolgy", [known("ophthalmology")], false), undefined);
    assert.equal(correctWord("opthamologyst", [known("ophthalmologist")], false), "ophthalmologist");
  });

  test("completes an unfinished word with a mistake in it", () => {
    assert.equal(correctWord("telehaelt", [known("telehealth")], true), "telehealth");
    assert.equal(correctWord("prescripto", [known("prescriptions")], true), "prescriptions");
    assert.equal(correctWord("prescripto", [known("prescriptions")], false), undefined);
  });

  test("is undefined if no word is near", () => {
    assert.equal(correctWord("zzxqvkkw", [known("zürich")], false), undefined);
    assert.equal(correctWord("anything", [], true), undefined);
  });
});
