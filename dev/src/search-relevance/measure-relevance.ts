import type { JudgedQuery, QueryKind } from "./judged-queries.ts";

export interface Relevance {
  /** The part of the queries with a relevant app among the first three. */
  success: number;
  /** Mean reciprocal rank: 1 if a relevant app is always the first. */
  mrr: number;
  /** `success` for each kind of query. */
  byKind: Map<QueryKind, number>;
  /** Queries without a relevant app among the first three, with what was found. */
  missed: { query: string; found: string[] }[];
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Searches for every query. `search` returns the slugs of the apps, the most relevant first. */
export async function measureRelevance(
  queries: JudgedQuery[],
  search: (query: string) => Promise<string[]>,
): Promise<Relevance> {
  const results: { judged: JudgedQuery; found: string[]; rank: number }[] = [];
  for (const judged of queries) {
    const found = await search(judged.query);
    results.push({ judged, found, rank: found.findIndex((slug) => judged.relevant.includes(slug)) + 1 });
  }
  const succeeded = ({ rank }: { rank: number }): boolean => rank >= 1 && rank <= 3;
  const kinds = [...new Set(queries.map(({ kind }) => kind))];
  return {
    success: mean(results.map((result) => Number(succeeded(result)))),
    mrr: mean(results.map(({ rank }) => (rank === 0 ? 0 : 1 / rank))),
    byKind: new Map(
      kinds.map((kind) => [
        kind,
        mean(results.filter(({ judged }) => judged.kind === kind).map((result) => Number(succeeded(result)))),
      ]),
    ),
    missed: results
      .filter((result) => !succeeded(result))
      .map(({ judged, found }) => ({ query: judged.query, found: found.slice(0, 3) })),
  };
}
