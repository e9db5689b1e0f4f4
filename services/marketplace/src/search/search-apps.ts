import type { AppDto, FoundAppDto } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { correctWord, isCorrectable } from "./correct-word.ts";
import { highlight, highlightExcerpt, toPhrases, wordsIn } from "./highlight.ts";
import { type Concept, interpretQuery, type QueryWords } from "./interpret-query.ts";
import {
  findCorrections,
  findMatching,
  findSimilarNames,
  findStems,
  lookUpWords,
  type SearchPage,
} from "./search-store.ts";

export interface Search {
  text: string;
  category: string | undefined;
  limit: number;
  offset: number;
  /** Whether to mark what matched in the apps' texts. */
  highlight: boolean;
}

export interface SearchResult extends SearchPage {
  /** The text that was searched for instead of the given one. */
  corrected: string | undefined;
}

/** Long descriptions are highlighted in their first part only. */
const maxHighlightedLength = 1_500;

/** Comparing a text with all names takes longer the longer it is. */
const maxComparedLength = 60;

/** Finds apps by what the text means: corrected, with synonyms, the most relevant first. */
export async function findApps(database: Kysely<DB>, search: Search): Promise<SearchResult> {
  const typed = await lookUpWords(database, search.text);
  const corrected = await correctWords(database, typed);
  const meant = corrected === undefined ? typed : await lookUpWords(database, corrected);
  const concepts = interpretQuery(meant);
  if (concepts.length === 0) {
    const text = typed.text.slice(0, maxComparedLength);
    return { ...(await findSimilarNames(database, { ...search, text })), corrected: undefined };
  }
  const page = await findMatching(database, { ...search, text: meant.text }, concepts);
  const apps = search.highlight ? await highlightApps(database, page.apps, concepts) : page.apps;
  return { ...page, apps, corrected };
}

/** Replaces words that are neither in the catalog nor in the synonyms by those that were probably meant. Undefined if there are none. */
async function correctWords(database: Kysely<DB>, { words, phrases }: QueryWords): Promise<string | undefined> {
  const isInPhrase = (index: number): boolean =>
    phrases.some(({ start, length }) => start <= index && index < start + length);
  const unknown = words
    .filter(({ isKnown, completions }, index) => !isKnown && completions.length === 0 && !isInPhrase(index))
    .map(({ word }) => word)
    .filter(isCorrectable);
  if (unknown.length === 0) return undefined;
  const last = words.at(-1)?.word;
  const corrections = new Map(
    (await findCorrections(database, unknown)).map(({ typed, similar, split }) => [
      typed,
      correctWord(typed, similar, typed === last) ?? split ?? typed,
    ]),
  );
  const corrected = words.map(({ word }) => corrections.get(word) ?? word);
  return corrected.every((word, index) => word === words[index]?.word) ? undefined : corrected.join(" ");
}

async function highlightApps(database: Kysely<DB>, apps: string[], concepts: Concept[]): Promise<string[]> {
  const found = apps.map((json) => JSON.parse(json) as AppDto);
  const exact = concepts.flatMap(({ alternatives }) => alternatives.filter(({ isLoose }) => !isLoose));
  const texts = found.flatMap(({ name, summary, description }) => [name, summary, beginning(description)]);
  const words = new Set([...texts, ...exact.map(({ phrase }) => phrase)].flatMap(wordsIn));
  const stems = await findStems(database, [...words]);
  const phrases = toPhrases(exact.map(({ phrase }) => wordsIn(phrase).map((word) => stems.get(word) ?? word)));
  return found.map((app) => {
    const name = highlight(app.name, phrases, stems);
    const summary = highlight(app.summary, phrases, stems);
    const description = highlightExcerpt(beginning(app.description), phrases, stems);
    const highlights = { ...(name && { name }), ...(summary && { summary }), ...(description && { description }) };
    return JSON.stringify({ ...app, highlights } satisfies FoundAppDto);
  });
}

/** Without half of a character at its end. */
const beginning = (description: string): string => description.slice(0, maxHighlightedLength).toWellFormed();
