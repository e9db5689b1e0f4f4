import type { Insertable, Kysely, Selectable, Transaction, Updateable } from "kysely";
import type { DB, Vendors } from "../database-schema.ts";

export type VendorRow = Selectable<Vendors>;

export function findVendorRow(database: Kysely<DB>, slug: string): Promise<VendorRow | undefined> {
  return database.selectFrom("vendors").selectAll().where("slug", "=", slug).executeTakeFirst();
}

export function lockVendor(transaction: Transaction<DB>, slug: string): Promise<VendorRow | undefined> {
  return transaction.selectFrom("vendors").selectAll().where("slug", "=", slug).forUpdate().executeTakeFirst();
}

export function findVendorRows(database: Kysely<DB>, page: { limit: number; after: string }): Promise<VendorRow[]> {
  return database
    .selectFrom("vendors")
    .selectAll()
    .where("slug", ">", page.after)
    .orderBy("slug")
    .limit(page.limit)
    .execute();
}

/** Returns false if the slug is registered already. */
export async function insertVendor(transaction: Transaction<DB>, row: Insertable<Vendors>): Promise<boolean> {
  const inserted = await transaction
    .insertInto("vendors")
    .values(row)
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .returning("id")
    .execute();
  return inserted.length === 1;
}

export async function updateVendor(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<Vendors>,
): Promise<void> {
  await transaction.updateTable("vendors").set(changes).where("id", "=", id).execute();
}

export async function findVendorId(database: Kysely<DB>, slug: string): Promise<string | undefined> {
  const found = await database.selectFrom("vendors").select("id").where("slug", "=", slug).executeTakeFirst();
  return found?.id;
}
