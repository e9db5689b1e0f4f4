import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { SimilarWord } from "./correct-word.ts";
import type { Concept, QueryWords } from "./interpret-query.ts";

const maxWords = 8;
const maxPhraseWords = 4;
const maxCompletions = 12;
const maxSimilar = 20;
const maxPhraseCompletions = 3;

/** Looks up the words and phrases of a query. The text is normalised in the same way as the texts of the catalog. */
export async function lookUpWords(database: Kysely<DB>, text: string): Promise<QueryWords & { text: string }> {
  const { rows } = await sql<QueryWords & { text: string }>`
    with typed as (
      select word, (nth - 1)::integer as nth, search_stem(word) as stem
      from unnest((string_to_array(search_text(${text}), ' '))[1:${sql.lit(maxWords)}]) with ordinality as each (word, nth)
      where word <> ''
    ),
    run as (
      select first.nth as start, length, joined.*
      from typed first, generate_series(1, ${sql.lit(maxPhraseWords)}) as length, lateral (
        select
          string_agg(stem, ' ' order by nth) as key,
          string_agg(word, ' ' order by nth) as phrase,
          string_agg(word, '' order by nth) as word
        from typed where nth >= first.nth and nth < first.nth + length
      ) joined
      where first.nth + length <= (select count(*) from typed)
    ),
    phrase as (
      select start, length, meant.* from run cross join lateral search_meanings(key) meant
      union all
      -- "tele health" is "telehealth", and "E. C. G." is "ECG"
      select start, length, array[word] || meant.means, meant.related
      from run join search_words using (word) cross join lateral search_meanings(stem) meant
      where length = 2 or (length > 2 and length(run.word) = length)
      union all
      -- "blood pre" begins "blood pressure"
      select start, length, array[completed.phrase] || meant.means, meant.related
      from run
      cross join lateral (
        select distinct key, phrase from search_terms
        where is_input and search_terms.phrase > run.phrase and search_terms.phrase < run.phrase || chr(1114111)
        order by phrase limit ${sql.lit(maxPhraseCompletions)}
      ) completed
      cross join lateral search_meanings(completed.key) meant
      where length > 1 and start + length = (select count(*) from typed)
    )
    select
      coalesce((select string_agg(word, ' ' order by nth) from typed), '') as text,
      (select coalesce(sum(apps), 0)::integer from category_counts) as "catalogSize",
      coalesce((
        select json_agg(json_build_object(
          'word', word, 'isStopWord', is_stop_word(word), 'apps', coalesce(known.apps, 0), 'isKnown', known.apps is not null,
          'completions', coalesce(completion.words, '[]')
        ) order by nth)
        from typed
        cross join lateral (select max(apps) as apps from search_words where search_words.stem = typed.stem) known
        left join lateral (
          select json_agg(json_build_object('word', found.word, 'means', meant.means)) as words
          from (
            select word, stem from search_words
            where typed.nth + 1 = (select count(*) from typed)
              and word > typed.word and word < typed.word || chr(1114111) and search_words.stem <> typed.stem
            order by apps desc, word limit ${sql.lit(maxCompletions)}
          ) found
          cross join lateral search_meanings(found.stem) meant
        ) completion on true
      ), '[]') as words,
      coalesce((
        select json_agg(json_build_object('start', start, 'length', length, 'means', means, 'related', related)) from phrase
        where means <> '{}' or related <> '{}'
      ), '[]') as phrases`.execute(database);
  return rows[0] ?? { text: "", catalogSize: 0, words: [], phrases: [] };
}

export interface Correction {
  typed: string;
  /** Words of the dictionary that resemble it: by trigrams, and for short words by the first letter. */
  similar: SimilarWord[];
  /** Two words of the dictionary that were written as one, such as "bloodpressure". */
  split: string | null;
}

export async function findCorrections(database: Kysely<DB>, words: string[]): Promise<Correction[]> {
  const { rows } = await sql<Correction>`
    select typed, coalesce(found.similar, '[]') as similar, (
      select first.word || ' ' || second.word
      from generate_series(3, length(typed) - 3) as at
      join search_words first on first.word = left(typed, at)
      join search_words second on second.word = substr(typed, at + 1)
      order by least(first.apps, second.apps) desc limit 1
    ) as split
    from unnest(${words}::text[]) as typed
    cross join lateral (
      select json_agg(json_build_object('word', word, 'apps', apps, 'isInSynonyms', in_synonyms)) as similar
      from (
        (
          select word, apps, in_synonyms from search_words where word % typed and show_trgm(typed) <> '{}'
          order by similarity(word, typed) desc, apps desc, word limit ${sql.lit(maxSimilar)}
        )
        union
        (
          select word, apps, in_synonyms from search_words
          where length(typed) <= 6 and word >= left(typed, 1) and word < left(typed, 1) || chr(1114111)
            and length(word) between length(typed) - 1 and length(typed) + 1
            and levenshtein_less_equal(left(word, 7), left(typed, 6), 2) <= 2
          order by apps desc, word limit ${sql.lit(maxSimilar)}
        )
      ) candidates
    ) found`.execute(database);
  return rows;
}

export interface SearchRequest {
  /** Normalised. */
  text: string;
  category: string | undefined;
  limit: number;
  offset: number;
}

export interface SearchPage {
  total: number;
  /** The JSON of the apps. */
  apps: string[];
}

/** Reads a page of the apps that a query ranks by `relevance`. */
async function readPage(
  database: Kysely<DB>,
  ranking: RawBuilder<unknown>,
  { limit, offset }: { limit: number; offset: number },
): Promise<SearchPage> {
  const { rows } = await sql<{ total: number; app_dto: string | null }>`
    with ranked as materialized (${ranking}),
    page as (
      select * from ranked order by relevance desc, app_id limit ${limit} offset ${offset}
    )
    select counted.total, listing.app_dto
    from (select count(*)::integer as total from ranked) counted
    left join (page join app_listings listing using (app_id)) on true
    order by page.relevance desc, page.app_id`.execute(database);
  return { total: rows[0]?.total ?? 0, apps: rows.flatMap(({ app_dto }) => app_dto ?? []) };
}

/** The apps that the concepts describe, the most relevant first. */
export async function findMatching(
  database: Kysely<DB>,
  { text, category, ...page }: SearchRequest,
  concepts: Concept[],
): Promise<SearchPage> {
  const alternatives = concepts.flatMap(({ alternatives: each }, index) =>
    each.map((alternative) => ({ ...alternative, concept: index + 1 })),
  );
  return readPage(
    database,
    sql`
      select app_id, relevance from rank_apps(
        ${text}, ${category ?? null}, ${alternatives.map(({ concept }) => concept)}::integer[],
        ${alternatives.map(({ phrase }) => phrase)}::text[], ${alternatives.map(({ isLoose }) => isLoose)}::boolean[],
        ${alternatives.map(({ factor }) => factor)}::real[], ${concepts.map(({ weight }) => weight)}::real[]
      )`,
    page,
  );
}

/** The apps whose name resembles the text, which has no known word. */
export async function findSimilarNames(
  database: Kysely<DB>,
  { text, category, ...page }: SearchRequest,
): Promise<SearchPage> {
  return readPage(
    database,
    sql`
      select app_id, greatest(similarity(name, ${text}), word_similarity(${text}, name)) as relevance from app_search
      where (name % ${text} or ${text} <% name) and show_trgm(${text}) <> '{}' and (${category ?? null}::text is null or category = ${category ?? null})
      order by relevance desc, app_id limit ${sql.lit(maxSimilar)}`,
    page,
  );
}

/** The stem of each word, as the catalog's words are stemmed. */
export async function findStems(database: Kysely<DB>, words: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ word: string; stem: string }>`
    select word, search_stem(search_text(word)) as stem from unnest(${words}::text[]) as word`.execute(database);
  return new Map(rows.map(({ word, stem }) => [word, stem]));
}
