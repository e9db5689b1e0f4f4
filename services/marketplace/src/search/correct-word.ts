import { editDistance } from "./edit-distance.ts";

/** A word of the dictionary that resembles a typed word. */
export interface SimilarWord {
  word: string;
  /** Number of apps that have it. */
  apps: number;
  /** Whether it is a word of the field. */
  isInSynonyms: boolean;
}

/** Short words have many neighbours, and are often abbreviations. */
function maxDistance(word: string): number {
  if (word.length < 4) return 0;
  if (word.length < 8) return 1;
  return word.length < 12 ? 2 : 3;
}

/** Words of the dictionary have at most 40 letters; two of them may have been written as one. */
const maxLength = 80;

export const isCorrectable = (word: string): boolean => maxDistance(word) > 0 && word.length <= maxLength;

/** An unfinished word is also compared with the beginning of the other, which costs half a letter. */
function distanceTo(word: string, candidate: string, isUnfinished: boolean): number {
  const whole = editDistance(word, candidate);
  if (!isUnfinished || candidate.length <= word.length) return whole;
  const beginnings = [word.length, word.length + 1].map((length) => editDistance(word, candidate.slice(0, length)));
  return Math.min(whole, ...beginnings.map((distance) => distance + 0.5));
}

/** Chooses the word that was probably meant. People seldom mistype the first letter. */
export function correctWord(word: string, similar: SimilarWord[], isUnfinished: boolean): string | undefined {
  const ranked = similar
    .filter(
      ({ word: other }) =>
        Math.abs(other.length - word.length) <= maxDistance(word) || (isUnfinished && other.length > word.length),
    )
    .map((candidate) => ({
      ...candidate,
      distance: distanceTo(word, candidate.word, isUnfinished) + (candidate.word[0] === word[0] ? 0 : 0.5),
    }))
    .filter(({ distance }) => distance <= maxDistance(word))
    .toSorted(
      (a, b) =>
        a.distance - b.distance ||
        Number(b.isInSynonyms) - Number(a.isInSynonyms) ||
        b.apps - a.apps ||
        (a.word < b.word ? -1 : 1),
    );
  return ranked[0]?.word;
}
