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

/** How many rows were written. */
export interface Ranked {
  popularity: number;
  tiers: number;
  words: number;
}

/** Writers of the catalog wait for a batch, so each is small. A changed tier costs most: it rewrites the app in the word indexes. */
const batchSizes = { popularity: 1_000, tiers: 50, words: 500, deletedWords: 200 };
const maxAppsPerCount = 5_000;
const beforeAllIds = "00000000-0000-0000-0000-000000000000";

async function eachBatch<T>(
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
const underLock =
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
): Promise<Omit<Ranked, "popularity">> {
  const changedTiers = await findChangedTiers(database);
  const tiers = await eachBatch(changedTiers, batchSizes.tiers, options, underLock(database, updateTiers));
  return { tiers, words: await refreshWords(database, options) };
}

async function refreshWords(database: Kysely<DB>, options: RankingOptions): Promise<number> {
  const known = await findKnownWords(database);
  const counts = new Map<string, number>();
  for (let after: string | undefined = beforeAllIds; after !== undefined; ) {
    if (options.stopped?.aborted === true) return 0;
    const part = await countWords(database, { after, limit: maxAppsPerCount });
    for (const { word, apps } of part.counts) counts.set(word, (counts.get(word) ?? 0) + apps);
    after = part.last;
  }
  const recounted = known.map(({ word, apps: before, stem }) => {
    const apps = Math.max(counts.get(word) ?? 0, stem === null ? 0 : (counts.get(stem) ?? 0));
    return { word, before, apps };
  });
  const changed = recounted.filter(({ before, apps }) => apps > 0 && apps !== before);
  const unused = recounted.filter(({ apps }) => apps === 0).map(({ word }) => word);
  const updated = await eachBatch(changed, batchSizes.words, options, underLock(database, updateWords));
  return (
    updated + (await eachBatch(unused, batchSizes.deletedWords, options, (batch) => deleteUnusedWords(database, batch)))
  );
}

/**
 * Counts live subscriptions into popularity and ranks search by it. Writes only rows that differ, in batches, so that writers
 * of the catalog wait for milliseconds and readers not at all. Concurrent runs are safe: each update checks the row again.
 */
export async function rankCatalog(
  database: Kysely<DB>,
  { logger, ...options }: RankingOptions & { logger: Logger },
): Promise<Ranked> {
  const changed = await findChangedPopularity(database);
  const popularity = await eachBatch(changed, batchSizes.popularity, options, underLock(database, updatePopularity));
  const ranked = { popularity, ...(await refreshSearchRanks(database, options)) };
  if (ranked.popularity + ranked.tiers + ranked.words > 0) await notifyCatalogChanged(database);
  logger.info(ranked, "ranked the catalog");
  return ranked;
}
