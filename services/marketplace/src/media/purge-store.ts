import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { MediaRow } from "./media-store.ts";

/** Of one vendor: another's files with the same bytes may be the originals, which an impostor has copied. */
export interface Content {
  vendorId: string;
  /** Of the stored bytes. */
  sha256?: string;
  /** Of the bytes as they were sent. */
  sourceSha256: string | null;
}

const hasContent = ({ vendorId, sha256 = "", sourceSha256 }: Content) =>
  sql<boolean>`(media.vendor_id = ${vendorId} and (media.sha256 = ${sha256} or media.source_sha256 = ${sourceSha256}))`;

export async function isPurged(database: Kysely<DB>, content: Content): Promise<boolean> {
  const found = await database
    .selectFrom("media")
    .select("id")
    .where("purged_at", "is not", null)
    .where(hasContent(content))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** A file that isn't being deleted, or that was purged. */
export function findPurgeable(
  database: Kysely<DB>,
  id: string,
): Promise<Pick<MediaRow, "vendor_id" | "sha256" | "source_sha256" | "purged_at"> | undefined> {
  return database
    .selectFrom("media")
    .select(["vendor_id", "sha256", "source_sha256", "purged_at"])
    .where("id", "=", id)
    .where((where) => where.or([where("deleting_at", "is", null), where("purged_at", "is not", null)]))
    .executeTakeFirst();
}

export interface PurgedFile {
  id: string;
  slug: string;
  vendor: string;
  was_public: boolean;
}

/** Marks all files with the content, of any listing of the vendor, and takes them out of the catalog. */
export async function markPurged(
  transaction: Transaction<DB>,
  content: Content,
  { at, iconUrl }: { at: Date; iconUrl: string },
): Promise<PurgedFile[]> {
  const { rows } = await sql<PurgedFile>`
    with locked as materialized (
      select id from media where purged_at is null and ${hasContent(content)} order by id for update
    ), purged as (
      update media set purged_at = ${at}, deleting_at = coalesce(deleting_at, ${at})
      from locked where media.id = locked.id
      returning media.id, media.app_id, media.vendor_id, media.published_at is not null as was_public
    )
    select purged.id, listings.slug, vendors.slug as vendor, was_public
    from purged join listings on listings.app_id = purged.app_id join vendors on vendors.id = purged.vendor_id
    order by purged.id`.execute(transaction);
  const ids = rows.map(({ id }) => id);
  await sql`select remove_purged_media(${ids}::uuid[], ${iconUrl})`.execute(transaction);
  return rows;
}

/** Files with the content whose objects aren't deleted yet. */
export function findPurgedObjects(
  database: Kysely<DB>,
  content: Content,
  limit: number,
): Promise<Pick<MediaRow, "id" | "object_key">[]> {
  return database
    .selectFrom("media")
    .select(["id", "object_key"])
    .where("purged_at", "is not", null)
    .where("stored_at", "is not", null)
    .where(hasContent(content))
    .orderBy("id")
    .limit(limit)
    .execute();
}
