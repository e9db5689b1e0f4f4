import { RE2JS } from "re2js";

export interface Pattern {
  /** Takes linear time: at most about `size` steps per character. */
  test(text: string): boolean;
  /** The number of RE2 instructions. */
  size: number;
  /**
   * The number of characters, classes and operators with counted repetitions expanded: `[a-z]{10}` has ten. A Unicode property adds
   * 25 per occurrence and white space adds 4, because RE2 reads and sorts their ranges.
   */
  positions: number;
}

/** The message is a predicate: it completes "The pattern …". */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

export const maxPatternLength = 256;
export const maxPatternPositions = 250;

/** Code points of ECMAScript's `\s`, which RE2's `\s` contains only partly. */
const whitespace: [number, number][] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const notWhitespace = whitespace.map(([, last], index): [number, number] => [
  last + 1,
  (whitespace[index + 1]?.[0] ?? 0x110000) - 1,
]);
const formatRanges = (ranges: [number, number][]): string =>
  ranges.map(([first, last]) => `\\x{${first.toString(16)}}-\\x{${last.toString(16)}}`).join("");

const inClass: Record<string, string> = {
  "\\s": formatRanges(whitespace),
  "\\S": `\\x{0}-\\x{8}${formatRanges(notWhitespace)}`,
};
const outsideClass: Record<string, string> = {
  "\\s": `[${inClass["\\s"]}]`,
  "\\S": `[${inClass["\\S"]}]`,
  ".": "[^\\n\\r\\x{2028}\\x{2029}]",
};

/**
 * The cost of reading the ranges of an escape, in positions of about 10 µs: up to 120 µs for a property, 10 µs for white space. It is
 * counted once per occurrence, also inside a class, and not per repetition, because repetitions share the ranges.
 */
const propertyCost = 25;
const rangeCosts: Record<string, number> = { "\\p": propertyCost, "\\P": propertyCost, "\\s": 4, "\\S": 4 };

/** Escapes, classes, starts of groups, counted repetitions, and single characters. */
const token = /\\[pP]\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\(\?(?:<[^=!][^>]*>|:)?|\{[^}]*\}|[^]/gu;

/**
 * Rewrites syntax that ECMAScript and RE2 both accept with different meanings: `.`, `\s` and `\S`. Throws for syntax that can't be
 * rewritten and for repetitions that are too large; they are counted before compiling, because RE2 expands them.
 */
function translate(source: string): { text: string; positions: number } {
  let text = "";
  /** Positions of the open groups, the innermost last. */
  const positions = [0];
  let last = 0;
  let ranges = 0;
  const add = (count: number): void => {
    positions.push((positions.pop() ?? 0) + count);
    if ((positions.at(-1) ?? 0) + ranges > maxPatternPositions) {
      throw new PatternError(
        `has more than ${maxPatternPositions} positions with its repetitions expanded; each Unicode property adds ${propertyCost}`,
      );
    }
  };
  for (const [part] of source.matchAll(token)) {
    if (part === "(?") throw new PatternError("has an assertion or a flag, which are not supported");
    if (part.startsWith("(")) positions.push(1);
    else if (part === ")") {
      last = positions.pop() ?? 0;
      add(last);
    } else if (part.startsWith("{")) {
      const [min = "", max = ""] = part.slice(1, -1).split(",");
      const count = Math.max(1, Number(min), Number(max));
      add(last * (count - 1));
      last *= count;
    } else {
      last = 1;
      for (const [escape] of part.matchAll(/\\[^]/gu)) ranges += rangeCosts[escape] ?? 0;
      add(1);
    }
    text += part.startsWith("[") ? translateClass(part) : (outsideClass[part] ?? part);
  }
  return { text, positions: (positions[0] ?? 0) + ranges };
}

function translateClass(text: string): string {
  const [, negation = "", body = ""] = /^\[(\^?)([^]*)\]$/u.exec(text) ?? [];
  if (body === "") throw new PatternError("has an empty class, which is not supported");
  if (body.includes("[:")) throw new PatternError("has a class with `[:` in it, which is not supported");
  return `[${negation}${body.replaceAll(/\\[^]/gu, (escape) => inClass[escape] ?? escape)}]`;
}

/**
 * Compiles a pattern that is valid both as RE2 and as an ECMAScript regular expression with the `u` flag, with the meaning of
 * ECMAScript. Throws `PatternError` for any other pattern.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > maxPatternLength) throw new PatternError(`is longer than ${maxPatternLength} characters`);
  try {
    new RegExp(source, "u");
  } catch (error) {
    throw new PatternError(
      `is not a valid ECMAScript regular expression with the \`u\` flag: ${(error as Error).message}`,
    );
  }
  const { text: translated, positions } = translate(source);
  const expression = compileRe2(translated);
  return {
    positions,
    // `expression.test()` isn't used: it builds a DFA, whose states cost more than they save on short values and stay in memory.
    test: (text) => expression.matcher(text).find(),
    size: expression.programSize(),
  };
}

function compileRe2(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new PatternError(`is not a valid RE2 regular expression: ${(error as Error).message}`);
  }
}
