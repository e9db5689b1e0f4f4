import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { compilePattern, PatternError } from "./pattern.ts";

describe("a pattern is refused", () => {
  for (const [source, why] of [
    ["(", /ECMAScript/],
    ["a{2,1}", /ECMAScript/],
    ["\\pL", /ECMAScript/],
    ["(?P<name>a)", /ECMAScript/],
    ["(?i)a", /ECMAScript/],
    ["(a)\\1", /RE2/],
    ["\\u0041", /RE2/],
    ["(?=a)", /assertion/],
    ["(?<!a)b", /assertion/],
    ["(?i:a)", /flag/],
    ["[]", /empty class/],
    ["[^]", /empty class/],
    ["[][a]", /empty class/],
    ["[[:alpha:][x]", /`\[:`/],
    ["a".repeat(257), /longer than 256/],
    ["a{251}", /250 positions/],
    ["(?:(?:a{10}){10}){10}", /250 positions/],
    ["(?:a{1000}){1000}", /250 positions/],
    ["(?:(?:(?:(?:a{9999}){9999}){9999}){9999}){9999}", /250 positions/],
    ["[ab]{125}(?:c|d){125}", /250 positions/],
    ["\\p{L}".repeat(10), /250 positions/],
    [`[${"\\p{L}".repeat(10)}]`, /Unicode property adds 25/],
    [`[^${"\\s".repeat(63)}]`, /250 positions/],
  ] as const) {
    test(source.slice(0, 40), () => {
      assert.throws(
        () => compilePattern(source),
        (error) => error instanceof PatternError && why.test(error.message),
      );
    });
  }
});

test("counts positions with repetitions expanded", () => {
  for (const source of [
    "a{250}",
    "^[a-z]{248}$",
    "(?:ab){60}",
    "a{0,100}b{100,}",
    "\\{a{240}\\}",
    "[{]{240}",
    "\\p{L}{225}",
    "^[\\p{L}\\p{M}\\s'.-]{1,190}$",
    "[\\\\p{L}s]{240}",
  ]) {
    assert.ok(compilePattern(source).size >= 60, source);
  }
});

test("a pattern means in RE2 what it means in ECMAScript", () => {
  const common = String.raw`a b 0 - . \s \S \d \D \w \W \b ^ $ [ab] [^a] [\s] [^\s\d] [\S] [^\S] [a-c0-9_] \. \/ \x41 \n \t \v \0 é`;
  const rare = String.raw`😀 [😀a] \p{L} \P{L} \p{Lu} [\p{L}\d] [\w.-] \[ [\]] [\[] [-a] [a-] [a&&b] [\-] [a\-z] [[]`;
  const refused = String.raw`[^] [] [[:alpha:]x (?i:a) \cA \u0041 (?=a) (?<n>a) { ]`;
  const atom = fc.constantFrom(" ", ...`${common} ${rare} ${refused}`.split(" "));
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie("source"), tie("source")).map(([a, b]) => `${a}${b}`),
      fc.tuple(tie("source"), tie("source")).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie("source"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "{0}", "{2,}?"))
        .map(([a, quantifier]) => `(?:${a})${quantifier}`),
      tie("source").map((a) => `(${a})`),
    ),
  }));
  const character = fc.constantFrom(
    ...Array.from("abcA01 \n\r\v\t\u00a0\u2028\ufeff-._éÉ😀/[]\0αx:"),
    "\ud83d",
    "\ude00",
  );
  const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(""));
  let compared = 0;
  fc.assert(
    fc.property(source, fc.array(text, { minLength: 5, maxLength: 10 }), (pattern, texts) => {
      let compiled: ReturnType<typeof compilePattern>;
      try {
        compiled = compilePattern(pattern);
      } catch (error) {
        assert.ok(error instanceof PatternError);
        return;
      }
      compared += 1;
      const expected = new RegExp(pattern, "u");
      for (const each of texts) assert.equal(compiled.test(each), expected.test(each), JSON.stringify([pattern, each]));
    }),
    { numRuns: rounds(2_000, 10_000) },
  );
  assert.ok(compared > 500, `${compared} were compared`);
});
