/** A word of a query, and what the dictionary knows about it. */
export interface QueryWord {
  word: string;
  isStopWord: boolean;
  /** Number of apps with this word or another form of it. */
  apps: number;
  /** Whether the catalog or the synonyms have it. */
  isKnown: boolean;
  /** Words that begin with it, only for the last word: people search while they type. */
  completions: { word: string; means: string[] }[];
}

/** A run of the query's words that has synonyms. */
export interface QueryPhrase {
  start: number;
  length: number;
  /** The same in other words. */
  means: string[];
  /** What people who say it look for, too. */
  related: string[];
}

export interface QueryWords {
  words: QueryWord[];
  phrases: QueryPhrase[];
  /** Number of published apps. */
  catalogSize: number;
}

/** One way to say a concept. */
export interface Alternative {
  phrase: string;
  /** Whether the words may be apart, in any order. */
  isLoose: boolean;
  factor: number;
}

export interface Concept {
  alternatives: Alternative[];
  /** What it counts: a rare word says more than a common one. */
  weight: number;
}

const factors = {
  typed: 1,
  synonym: 0.8,
  related: 0.6,
  /** A word of a longer phrase, and what such a part means. */
  part: 0.4,
  partSynonym: 0.3,
  completion: 0.8,
  completionSynonym: 0.5,
  /** The completion of a word that is known itself. */
  longerWord: 0.3,
};
/** What words count that are apart: of the phrase that was typed, and of its synonyms. */
const looseness = { typed: 0.5, synonym: 0.3 };
const minWeight = 0.1;
const maxAlternatives = 60;
const minAlternatives = 8;

/** Words that say little here, however few apps use them. */
const genericWords = new Set(
  (
    "app apps application automatic best care clinic clinical digital doctor doctors easy electronic faster find get health " +
    "healthcare help keep know make manage management medical medicine need office online patient patients platform practice " +
    "see service services simple software solution solutions stop system systems tool tools track tracking use want"
  ).split(" "),
);

const isWeak = ({ word, isStopWord }: QueryWord): boolean => isStopWord || genericWords.has(word);

function weightOf({ word, apps }: QueryWord, catalogSize: number): number {
  const weight = Math.max(minWeight, 1 - Math.log(1 + apps) / Math.log(2 + catalogSize));
  return genericWords.has(word) ? Math.min(weight, 2 * minWeight) : weight;
}

/** The phrase as it is, and with its words apart. */
function toAlternatives(phrase: string, factor: number, loose: number = looseness.synonym): Alternative[] {
  const whole = { phrase, isLoose: false, factor };
  return phrase.includes(" ") ? [whole, { phrase, isLoose: true, factor: factor * loose }] : [whole];
}

function phraseConcept(words: QueryWord[], phrases: QueryPhrase[], parts: QueryPhrase[], catalogSize: number): Concept {
  const typed = words.map(({ word }) => word).join(" ");
  const meaningful = words.filter(({ isStopWord }) => !isStopWord);
  const weights = (meaningful.length === 0 ? words : meaningful).map((word) => weightOf(word, catalogSize));
  return {
    alternatives: [
      ...toAlternatives(typed, factors.typed, looseness.typed),
      ...(words.length > 1
        ? words.filter((word) => !isWeak(word)).flatMap(({ word }) => toAlternatives(word, factors.part))
        : []),
      ...phrases.flatMap(({ means }) => means.flatMap((meaning) => toAlternatives(meaning, factors.synonym))),
      ...phrases.flatMap(({ related }) => related.flatMap((meaning) => toAlternatives(meaning, factors.related))),
      ...parts.flatMap(({ means, related }) =>
        [...means, ...related].flatMap((meaning) => toAlternatives(meaning, factors.partSynonym)),
      ),
    ],
    weight: Math.max(...weights) + (words.length > 1 ? 0.3 : 0),
  };
}

function completions({ completions: completed, isKnown }: QueryWord, hasSynonyms: boolean): Alternative[] {
  return completed.flatMap(({ word, means }) => [
    ...toAlternatives(word, isKnown ? factors.longerWord : factors.completion),
    ...(hasSynonyms ? [] : means.flatMap((meaning) => toAlternatives(meaning, factors.completionSynonym))),
  ]);
}

function wordConcept(word: QueryWord, catalogSize: number): Concept {
  return {
    alternatives: [...(word.isKnown ? toAlternatives(word.word, factors.typed) : []), ...completions(word, false)],
    weight: weightOf(word, catalogSize),
  };
}

/** Divides a query into concepts: the longest phrases that have synonyms, and the words between them. */
export function interpretQuery({ words, phrases, catalogSize }: QueryWords): Concept[] {
  const onlyStopWords = words.every(({ isStopWord }) => isStopWord);
  const concepts: Concept[] = [];
  for (let start = 0; start < words.length; ) {
    const word = words[start] as QueryWord;
    const matching = phrases.filter((phrase) => phrase.start === start && (phrase.length > 1 || !word.isStopWord));
    const length = Math.max(0, ...matching.map((phrase) => phrase.length));
    if (length > 0) {
      const found = matching.filter((phrase) => phrase.length === length);
      const parts = phrases.filter(
        (phrase) =>
          phrase.length < length &&
          phrase.start >= start &&
          phrase.start + phrase.length <= start + length &&
          !words.slice(phrase.start, phrase.start + phrase.length).every(isWeak),
      );
      const concept = phraseConcept(words.slice(start, start + length), found, parts, catalogSize);
      if (length === 1) concept.alternatives.push(...completions(word, true));
      concepts.push(concept);
    } else if (onlyStopWords || !word.isStopWord) {
      concepts.push(wordConcept(word, catalogSize));
    }
    start += Math.max(1, length);
  }
  return limitAlternatives(concepts.filter(({ alternatives }) => alternatives.length > 0));
}

/** Each alternative is looked for in hundreds of apps, so those that say least are left out of a long query. */
function limitAlternatives(concepts: Concept[]): Concept[] {
  const perConcept = Math.max(minAlternatives, Math.floor(maxAlternatives / concepts.length));
  return concepts.map(({ alternatives, weight }) => ({
    alternatives: alternatives.toSorted((a, b) => b.factor - a.factor).slice(0, perConcept),
    weight,
  }));
}
