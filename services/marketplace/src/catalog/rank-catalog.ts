import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  countWords,
  deleteUnusedWords,
  findChangedPopularity,
  findChangedTiers,
  findKnownWords,
  lockCatalog,
  notifyCatalogChanged,
  updatePopularity,
  updateTiers,
  updateWords,
} from "./ranking-store.ts";

interface RankingOptions {
  stopped?: AbortSignal;
}

/** Number of rows written. */
export interface RankingResult {
  popularity: number;
  tiers: number;
  words: number;
}

/** Catalog writers wait for a batch, so batches are small. A changed tier is the most expensive: it rewrites the app in the word indexes. */
const batchSizes = { popularity: 1_000, tiers: 50, words: 500, deletedWords: 200 };
const maxAppsPerCount = 5_000;
const minId = "00000000-0000-0000-0000-000000000000";

async function forEachBatch<T>(
  all: T[],
  size: number,
  { stopped }: RankingOptions,
  work: (batch: T[]) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let start = 0; start < all.length; start += size) {
    if (stopped?.aborted === true) break;
    done += await work(all.slice(start, start + size));
  }
  return done;
}

/** Runs each batch in a transaction of its own that excludes writers of the catalog. */
const withCatalogLock =
  <T>(database: Kysely<DB>, update: (transaction: Transaction<DB>, batch: T[]) => Promise<number>) =>
  (batch: T[]): Promise<number> =>
    database.transaction().execute(async (transaction) => {
      await lockCatalog(transaction);
      return update(transaction, batch);
    });

/** Derives the search tiers from popularity, and the count of each word from the apps that have it. */
export async function refreshSearchRanks(
  database: Kysely<DB>,
  options: RankingOptions = {},
): Promise<Omit<RankingResult, "popularity">> {
  const changedTiers = await findChangedTiers(database);
  const tiers = await forEachBatch(changedTiers, batchSizes.tiers, options, withCatalogLock(database, updateTiers));
  return { tiers, words: await refreshWords(database, options) };
}

async function refreshWords(database: Kysely<DB>, options: RankingOptions): Promise<number> {
  const known = await findKnownWords(database);
  const counts = new Map<string, number>();
  for (let after: string | undefined = minId; after !== undefined; ) {
    if (options.stopped?.aborted === true) return 0;
    const part = await countWords(database, { after, limit: maxAppsPerCount });
    for (const { word, apps } of part.counts) counts.set(word, (counts.get(word) ?? 0) + apps);
    after = part.last;
  }
  const recounted = known.map(({ stem, ...word }) => ({ ...word, before: word.apps, apps: counts.get(stem) ?? 0 }));
  const isUsed = ({ apps, in_synonyms }: { apps: number; in_synonyms: boolean }): boolean => apps > 0 || in_synonyms;
  const changed = recounted.filter((word) => isUsed(word) && word.apps !== word.before);
  const unused = recounted.filter((word) => !isUsed(word)).map(({ word }) => word);
  const updated = await forEachBatch(changed, batchSizes.words, options, withCatalogLock(database, updateWords));
  return (
    updated +
    (await forEachBatch(unused, batchSizes.deletedWords, options, (batch) => deleteUnusedWords(database, batch)))
  );
}

/**
 * Updates popularity from the number of live subscriptions, and the search ranks from popularity. Writes only rows that differ, in
 * batches, so that catalog writers wait for milliseconds and readers never. Concurrent runs are safe: each update checks the row again.
 */
export async function rankCatalog(
  database: Kysely<DB>,
  { logger, ...options }: RankingOptions & { logger: Logger },
): Promise<RankingResult> {
  const changed = await findChangedPopularity(database);
  const popularity = await forEachBatch(
    changed,
    batchSizes.popularity,
    options,
    withCatalogLock(database, updatePopularity),
  );
  const ranked = { popularity, ...(await refreshSearchRanks(database, options)) };
  if (ranked.popularity + ranked.tiers + ranked.words > 0) await notifyCatalogChanged(database);
  logger.info(ranked, "ranked the catalog");
  return ranked;
}
