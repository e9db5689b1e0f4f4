import type { HighlightedText } from "@ehr-marketplace/contracts";

const word = /[\p{L}\p{N}\p{M}]+/gu;

/** Characters of an excerpt before its first match, and in all. */
const excerpt = { before: 60, length: 200 };

export const wordsIn = (text: string): string[] => text.match(word) ?? [];

/** What to mark, as stems, by the first stem of each phrase. */
export type Phrases = Map<string, string[][]>;

export const toPhrases = (phrases: string[][]): Phrases => Map.groupBy(phrases, ([first = ""]) => first);

interface Range {
  start: number;
  end: number;
}

/** Finds where one of the phrases is in the text, the longest if several begin at a word. */
function findPhrases(text: string, phrases: Phrases, stems: Map<string, string>): Range[] {
  const tokens = [...text.matchAll(word)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    stem: stems.get(match[0]) ?? "",
  }));
  const ranges: Range[] = [];
  let next = 0;
  for (const [index, { start, stem }] of tokens.entries()) {
    if (index < next) continue;
    const matching = (phrases.get(stem) ?? []).filter((phrase) =>
      phrase.every((each, offset) => tokens[index + offset]?.stem === each),
    );
    const length = Math.max(0, ...matching.map((phrase) => phrase.length));
    const last = tokens[index + length - 1];
    if (length === 0 || last === undefined) continue;
    ranges.push({ start, end: last.end });
    next = index + length;
  }
  return ranges;
}

/** Divides the text into parts that match and parts that don't. Undefined if nothing matches. */
export function highlight(text: string, phrases: Phrases, stems: Map<string, string>): HighlightedText | undefined {
  const ranges = findPhrases(text, phrases, stems);
  if (ranges.length === 0) return undefined;
  const parts: HighlightedText = [];
  let end = 0;
  for (const range of ranges) {
    parts.push({ text: text.slice(end, range.start), match: false });
    parts.push({ text: text.slice(range.start, range.end), match: true });
    end = range.end;
  }
  parts.push({ text: text.slice(end), match: false });
  return parts.filter((part) => part.text !== "");
}

/** The part of a long text around its first match, in whole words. */
export function highlightExcerpt(
  text: string,
  phrases: Phrases,
  stems: Map<string, string>,
): HighlightedText | undefined {
  const first = findPhrases(text, phrases, stems).at(0);
  if (first === undefined) return undefined;
  const start = first.start <= excerpt.before ? 0 : wordStart(text, first.start - excerpt.before, first.start);
  const end = text.length - start <= excerpt.length ? text.length : wordEnd(text, start + excerpt.length, first.end);
  return highlight(text.slice(start, end), phrases, stems);
}

/** The start of the first word after a position, at most at a limit. */
function wordStart(text: string, from: number, limit: number): number {
  const space = text.indexOf(" ", from);
  return space === -1 || space >= limit ? limit : space + 1;
}

/** The end of the last word before a position, at least at a limit. */
function wordEnd(text: string, before: number, limit: number): number {
  return Math.max(text.lastIndexOf(" ", before), limit);
}
