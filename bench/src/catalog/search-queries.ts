import { Chance } from "@ehr-marketplace/dev/plausible-apps";

type Sample = { name: string; summary: string };

function typo(chance: Chance, word: string): string {
  if (word.length < 4) return word;
  const at = 1 + chance.below(word.length - 2);
  const kinds = [
    () => word.slice(0, at) + word.slice(at + 1),
    () => word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
    () => word.slice(0, at) + chance.one("abcdefghijklmnopqrstuvwxyz".split("")) + word.slice(at + 1),
    () => word.slice(0, at) + word.charAt(at) + word.slice(at),
  ];
  return chance.one(kinds)();
}

const nonsense = (chance: Chance): string =>
  Array.from({ length: 3 + chance.below(10) }, () => chance.one("qwrtzpxcvbnmkjhgfdsy".split(""))).join("");

/** Generates realistic queries: names, parts of sentences, unfinished words, typos, and words without matches. */
export function searchQueries(samples: Sample[], count: number, seed: number): string[] {
  const chance = new Chance(seed);
  const words = samples
    .flatMap(({ name, summary }) => `${name} ${summary}`.toLowerCase().split(/[^a-z]+/))
    .filter((word) => word.length > 2);
  const kinds: (() => string)[] = [
    () => chance.one(samples).name,
    () => typo(chance, chance.one(words)),
    () => `${typo(chance, chance.one(words))} ${chance.one(words)}`,
    () => chance.one(words).slice(0, 2),
    () => chance.one(words).slice(0, 3 + chance.below(3)),
    () => `${chance.one(words)} ${chance.one(words).slice(0, 2)}`,
    () => Array.from({ length: 2 + chance.below(3) }, () => chance.one(words)).join(" "),
    () => chance.one(samples).summary.slice(0, 40),
    () => nonsense(chance),
    () => `${nonsense(chance)} ${chance.one(words)}`,
  ];
  const queries = new Set<string>();
  while (queries.size < count) {
    const query = chance.one(kinds)();
    // There are few different two-letter queries; another case makes a different request with the same work.
    queries.add(
      queries.has(query)
        ? query
            .split("")
            .map((letter) => (chance.below(2) === 0 ? letter.toUpperCase() : letter))
            .join("")
        : query,
    );
  }
  return [...queries];
}
