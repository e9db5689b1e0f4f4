import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Media, UnstoredUploads } from "../database-schema.ts";

export type MediaRow = Selectable<Media>;

/** Serialises the uploads of a vendor where they are counted, so that their number is bounded, and with purges of its files. */
export async function lockUploads(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`media of ${vendorId}`}, 0))`.execute(transaction);
}

/** Locks the row of a file that was uploaded before: by the bytes that were sent, or by those that are stored. */
export function lockSameFile(
  transaction: Transaction<DB>,
  { app_id, kind }: Pick<MediaRow, "app_id" | "kind">,
  by: { sha256: string } | { source_sha256: string },
): Promise<MediaRow | undefined> {
  return transaction
    .selectFrom("media")
    .selectAll()
    .where("app_id", "=", app_id)
    .where("kind", "=", kind)
    .where(({ eb }) => ("sha256" in by ? eb("sha256", "=", by.sha256) : eb("source_sha256", "=", by.source_sha256)))
    .where("deleting_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
}

export async function countMedia(database: Kysely<DB>, appId: string): Promise<{ files: number; bytes: number }> {
  const { files, bytes } = await database
    .selectFrom("media")
    .select(({ fn }) => [fn.countAll<string>().as("files"), fn.sum<string | null>("bytes").as("bytes")])
    .where("app_id", "=", appId)
    .where("deleting_at", "is", null)
    .executeTakeFirstOrThrow();
  return { files: Number(files), bytes: Number(bytes ?? 0) };
}

/** What the vendor has sent since a time, stored or not, and when it sent the oldest of them. */
export async function countUploadsSince(
  database: Kysely<DB>,
  vendorId: string,
  since: Date,
): Promise<{ uploads: number; oldest: Date | null }> {
  const stored = database
    .selectFrom("media")
    .select("created_at as sent_at")
    .where("vendor_id", "=", vendorId)
    .where("created_at", ">", since);
  const unstored = database
    .selectFrom("unstored_uploads")
    .select("sent_at")
    .where("vendor_id", "=", vendorId)
    .where("sent_at", ">", since);
  const { uploads, oldest } = await database
    .selectFrom(stored.unionAll(unstored).as("sent"))
    .select(({ fn }) => [fn.countAll<string>().as("uploads"), fn.min<Date | null>("sent_at").as("oldest")])
    .executeTakeFirstOrThrow();
  return { uploads: Number(uploads), oldest };
}

export async function insertUnstoredUpload(database: Kysely<DB>, row: Insertable<UnstoredUploads>): Promise<void> {
  await database.insertInto("unstored_uploads").values(row).execute();
}

/** They count for a day. Bounded, because a vendor can send so many a day. */
export async function deleteUnstoredUploads(database: Kysely<DB>, before: Date): Promise<void> {
  await database.deleteFrom("unstored_uploads").where("sent_at", "<", before).execute();
}

export async function insertMedia(transaction: Transaction<DB>, row: Insertable<Media>): Promise<void> {
  await transaction.insertInto("media").values(row).execute();
}

/** Begins the time after which unused media is deleted anew. What is in use has none. */
export async function postponeDeletion(transaction: Transaction<DB>, id: string, now: Date): Promise<void> {
  await transaction
    .updateTable("media")
    .set({ unused_since: now })
    .where("id", "=", id)
    .where("unused_since", "is not", null)
    .execute();
}

/** Returns false if the object was stored before. */
export async function markStored(transaction: Transaction<DB>, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("media")
    .set({ stored_at: now })
    .where("id", "=", id)
    .where("stored_at", "is", null)
    .where("deleting_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** What can be read, or could be until it was purged. */
const isReadableOrPurged = sql<boolean>`
  (media.purged_at is not null or media.stored_at is not null and media.deleting_at is null)`;

/** Of a listing, also one that was purged. */
export function findMediaRow(database: Kysely<DB>, appId: string, id: string): Promise<MediaRow | undefined> {
  return database
    .selectFrom("media")
    .selectAll()
    .where("app_id", "=", appId)
    .where("id", "=", id)
    .where(isReadableOrPurged)
    .executeTakeFirst();
}

/** A file that was published, also one that can't be read any more: it was purged, or its app is suspended. Two lookups by primary key. */
export function findPublishedRow(
  database: Kysely<DB>,
  id: string,
): Promise<(MediaRow & { suspended_at: Date | null }) | undefined> {
  return database
    .selectFrom("media")
    .innerJoin("listings", "listings.app_id", "media.app_id")
    .selectAll("media")
    .select("listings.suspended_at")
    .where("media.id", "=", id)
    .where("media.published_at", "is not", null)
    .where(isReadableOrPurged)
    .executeTakeFirst();
}

/** Bounded by the number of files that a listing can have. */
export function findMediaOfListing(
  database: Kysely<DB>,
  appId: string,
): Promise<Pick<MediaRow, "id" | "kind" | "width" | "height">[]> {
  return database
    .selectFrom("media")
    .select(["id", "kind", "width", "height"])
    .where("app_id", "=", appId)
    .where("stored_at", "is not", null)
    .where("deleting_at", "is", null)
    .execute();
}

/** Records which media is used, in the order of ids. Returns the last id of the batch. */
export async function updateUse(
  database: Kysely<DB>,
  { after, limit, now }: { after: string; limit: number; now: Date },
): Promise<{ rows: number; last: string | undefined }> {
  const { rows } = await sql<{ id: string }>`
    with batch as materialized (
      select id, app_id, unused_since from media
      where id > ${after}::uuid and deleting_at is null and stored_at is not null
      order by id limit ${limit}
    ), used as materialized (
      select distinct media_id from used_media where app_id in (select app_id from batch)
    ), locked as materialized (
      -- In the order of ids, as submissions lock them.
      select media.id, batch.unused_since from media join batch on batch.id = media.id
      where (batch.unused_since is null) <> (batch.id::text in (select media_id from used))
      order by media.id for update of media
    ), changed as (
      update media set unused_since = case when locked.unused_since is null then ${now}::timestamptz end
      from locked where media.id = locked.id
    )
    select id from batch order by id`.execute(database);
  return { rows: rows.length, last: rows.at(-1)?.id };
}

/**
 * Marks media that nothing has used since a time, and what was never stored. Nothing can refer to it from then on. The use is computed
 * again, because a draft may have changed since it was recorded; what is used is recorded as used. Returns how many it has decided on.
 */
export async function markForDeletion(
  database: Kysely<DB>,
  { unusedSince, begunBefore, now, limit }: { unusedSince: Date; begunBefore: Date; now: Date; limit: number },
): Promise<number> {
  const result = await sql`
    with batch as materialized (
      select id, app_id from media
      where deleting_at is null and published_at is null
        and unused_since < case when stored_at is null then ${begunBefore}::timestamptz else ${unusedSince}::timestamptz end
      order by unused_since limit ${limit} for update skip locked
    ), used as materialized (
      select distinct media_id from used_media where app_id in (select app_id from batch)
    ), decided as (
      select id, id::text in (select media_id from used) as is_used from batch
    )
    update media
    set deleting_at = case when is_used then null else ${now}::timestamptz end,
      unused_since = case when is_used then null else unused_since end
    from decided where media.id = decided.id`.execute(database);
  return Number(result.numAffectedRows ?? 0n);
}

/** Of what is marked: `stored_at` of a purged file is null once its object is deleted. */
const hasObject = sql<boolean>`(purged_at is null or stored_at is not null)`;

export function findMarked(
  database: Kysely<DB>,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<MediaRow, "id" | "object_key">[]> {
  return database
    .selectFrom("media")
    .select(["id", "object_key"])
    .where("deleting_at", "is not", null)
    .where(hasObject)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Once the object is deleted. The row of a purged file stays. */
export async function deleteMarked(database: Kysely<DB>, id: string): Promise<void> {
  const { numUpdatedRows } = await database
    .updateTable("media")
    .set({ stored_at: null })
    .where("id", "=", id)
    .where("purged_at", "is not", null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await database.deleteFrom("media").where("id", "=", id).where("deleting_at", "is not", null).execute();
}
