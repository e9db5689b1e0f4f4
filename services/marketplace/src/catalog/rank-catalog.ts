import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  countWords,
  findChangedPopularity,
  findChangedTiers,
  findKnownWords,
  forgetWords,
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

/** Writers of the catalog wait for a batch: each takes tens of milliseconds. A tier is an app's words in other indexes. */
const batchSizes = { popularity: 1_000, tiers: 50, words: 500, forgotten: 200 };
const appsCountedAtOnce = 5_000;
const beforeAllIds = "00000000-0000-0000-0000-000000000000";

async function eachBatch<T>(
  all: T[],
  size: number,
  { stopped }: RankingOptions,
  work: (batch: T[]) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let start = 0; start < all.length && stopped?.aborted !== true; start += size) {
    done += await work(all.slice(start, start + size));
  }
  return done;
}

/** A short transaction that no writer of the catalog runs beside. */
const underLock =
  <T>(database: Kysely<DB>, update: (transaction: Transaction<DB>, batch: T[]) => Promise<number>) =>
  (batch: T[]): Promise<number> =>
    database.transaction().execute(async (transaction) => {
      await lockCatalog(transaction);
      return update(transaction, batch);
    });

/** Which tier of search an app is in follows from popularity; how common a word is, from the apps that have it. */
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
    const part = await countWords(database, { after, most: appsCountedAtOnce });
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
  return updated + (await eachBatch(unused, batchSizes.forgotten, options, (batch) => forgetWords(database, batch)));
}

/**
 * Counts live subscriptions into popularity, and ranks search by it. Only rows that differ are written, in batches, so that
 * writers of the catalog never wait long; readers don't wait at all. Two at a time do no harm: the second finds nothing to change.
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
