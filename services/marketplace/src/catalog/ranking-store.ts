import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** The rank at which the tiers 0, 1 and so on end. All other apps are in the last tier. */
const tierEnds = [250, 1_250, 5_250, 21_250];
const lastTier = tierEnds.length;
const maxRanked = tierEnds.at(-1) ?? 0;

/** Writers of the catalog take this lock before any row lock, so a transaction that holds it can't deadlock with one. */
export async function lockCatalog(transaction: Transaction<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('catalog'))`.execute(transaction);
}

export async function notifyCatalogChanged(database: Kysely<DB>): Promise<void> {
  await sql`select pg_notify('catalog_changed', '')`.execute(database);
}

export interface Popularity {
  app_id: string;
  popularity: number;
}

/** The apps whose number of live subscriptions isn't the one that is stored. */
export async function findChangedPopularity(database: Kysely<DB>): Promise<Popularity[]> {
  const { rows } = await sql<Popularity>`
    select stored.app_id, coalesce(counted.live, 0)::integer as popularity
    from app_popularity stored
    left join (
      select app_id, count(*) as live from subscriptions where status in ('active', 'paused') group by app_id
    ) counted using (app_id)
    where stored.popularity <> coalesce(counted.live, 0)`.execute(database);
  return rows;
}

export async function updatePopularity(transaction: Transaction<DB>, changed: Popularity[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update app_popularity stored set popularity = counted.popularity
    from unnest(
      ${changed.map(({ app_id }) => app_id)}::uuid[], ${changed.map(({ popularity }) => popularity)}::integer[]
    ) as counted (app_id, popularity)
    where stored.app_id = counted.app_id and stored.popularity <> counted.popularity`.execute(transaction);
  return Number(numAffectedRows);
}

export interface Tier {
  app_id: string;
  tier: number;
}

/** The apps that are in another tier than their popularity says. Reads only apps that are or were above the last tier. */
export async function findChangedTiers(database: Kysely<DB>): Promise<Tier[]> {
  const tier = sql.join(
    tierEnds.map((end, nth) => sql`when rank <= ${sql.lit(end)} then ${sql.lit(nth)}`),
    sql` `,
  );
  const { rows } = await sql<Tier>`
    with target as (
      select app_id, case ${tier} end as tier from (
        select app_id, row_number() over (order by popularity desc, app_id desc) as rank from app_popularity
      ) ranked
      where rank <= ${sql.lit(maxRanked)}
    ),
    present as (
      select app_id, tier from app_search where tier < ${sql.lit(lastTier)}
    )
    select app_id, coalesce(target.tier, ${sql.lit(lastTier)}) as tier
    from target full join present using (app_id)
    where target.tier is distinct from present.tier`.execute(database);
  return rows;
}

export async function updateTiers(transaction: Transaction<DB>, changed: Tier[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update app_search searched set tier = target.tier
    from unnest(${changed.map(({ app_id }) => app_id)}::uuid[], ${changed.map(({ tier }) => tier)}::smallint[])
      as target (app_id, tier)
    where searched.app_id = target.app_id and searched.tier <> target.tier`.execute(transaction);
  return Number(numAffectedRows);
}

export interface KnownWord {
  word: string;
  apps: number;
  /** As texts are indexed. */
  stem: string;
  /** Stays in the dictionary even if no app has it. */
  in_synonyms: boolean;
}

export async function findKnownWords(database: Kysely<DB>): Promise<KnownWord[]> {
  const { rows } = await sql<KnownWord>`
    select word, apps, stem, in_synonyms from search_words`.execute(database);
  return rows;
}

/** For the next apps in id order: how many have each indexed word, and the id of the last one. */
export async function countWords(
  database: Kysely<DB>,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | undefined; counts: { word: string; apps: number }[] }> {
  const { rows: ends } = await sql<{ last: string }>`
    select app_id as last from (
      select app_id from app_search where app_id > ${after}::uuid order by app_id limit ${limit}
    ) next
    order by app_id desc limit 1`.execute(database);
  const last = ends[0]?.last;
  if (last === undefined) return { last, counts: [] };
  const { rows: counts } = await sql<{ word: string; apps: number }>`
    select word, ndoc as apps from ts_stat(format(
      'select words from app_search where app_id > %L::uuid and app_id <= %L::uuid', ${after}::text, ${last}::text
    ))`.execute(database);
  return { last, counts };
}

export async function updateWords(
  transaction: Transaction<DB>,
  changed: { word: string; apps: number }[],
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update search_words known set apps = counted.apps
    from unnest(${changed.map(({ word }) => word)}::text[], ${changed.map(({ apps }) => apps)}::integer[])
      as counted (word, apps)
    where known.word = counted.word and known.apps <> counted.apps`.execute(transaction);
  return Number(numAffectedRows);
}

/** Deletes those of the words that no app has. The function takes the catalog's lock itself. */
export async function deleteUnusedWords(database: Kysely<DB>, words: string[]): Promise<number> {
  const { rows } = await sql<{
    deleted: number;
  }>`select delete_unused_search_words(${words}::text[]) as deleted`.execute(database);
  return rows[0]?.deleted ?? 0;
}
