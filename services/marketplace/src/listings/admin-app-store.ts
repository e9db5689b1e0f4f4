import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type ListedRow, withLastReview } from "./listing-store.ts";

export type AdminAppRow = ListedRow & { vendor: string; featured: boolean };

/** A listing of any vendor, with the name that is public. */
export function findAdminApp(database: Kysely<DB>, slug: string): Promise<AdminAppRow | undefined> {
  return withLastReview(database)
    .leftJoin("apps", "apps.id", "listings.app_id")
    .selectAll(["listings", "last_review"])
    .select([
      "listings.app_id as id",
      "vendors.slug as vendor",
      sql<string>`coalesce(apps.name, listings.draft ->> 'name')`.as("name"),
      sql<boolean>`coalesce(apps.featured, false)`.as("featured"),
    ])
    .where("listings.slug", "=", slug)
    .$castTo<AdminAppRow>()
    .executeTakeFirst();
}

/** Returns whether the app was featured before. */
export async function updateFeatured(transaction: Transaction<DB>, id: string, featured: boolean): Promise<boolean> {
  const before = await transaction.selectFrom("apps").select("featured").where("id", "=", id).executeTakeFirst();
  await transaction
    .updateTable("apps")
    .set({ featured })
    .where("id", "=", id)
    .where("featured", "<>", featured)
    .execute();
  return before?.featured ?? false;
}
