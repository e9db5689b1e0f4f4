import type { Insertable, Kysely, Selectable } from "kysely";
import type { ClientMetadata, DB } from "../database-schema.ts";

export type MetadataRow = Selectable<ClientMetadata>;

export function findMetadata(database: Kysely<DB>, appSlug: string): Promise<MetadataRow | undefined> {
  return database.selectFrom("client_metadata").selectAll().where("app_slug", "=", appSlug).executeTakeFirst();
}

/** A response never replaces one that was requested later. */
export async function upsertMetadata(database: Kysely<DB>, row: Insertable<ClientMetadata>): Promise<void> {
  const { app_slug: _slug, ...changes } = row;
  await database
    .insertInto("client_metadata")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column("app_slug")
        .doUpdateSet(changes)
        .whereRef("client_metadata.fetched_at", "<=", "excluded.fetched_at"),
    )
    .execute();
}
