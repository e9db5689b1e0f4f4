import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
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

/** Locks those of these vendors that exist, always in the order of their slugs. */
export async function lockVendors(transaction: Transaction<DB>, slugs: string[]): Promise<VendorRow[]> {
  if (slugs.length === 0) return [];
  const { rows } = await sql<VendorRow>`
    select * from vendors where slug = any (${slugs}::text[]) order by slug for update`.execute(transaction);
  return rows;
}

const recordset = (rows: VendorRow[]) => sql`
  json_to_recordset(${JSON.stringify(rows)}::json) as given(id uuid, slug text, name text, website_url text,
    support_email text, security_contact text, commission_percent numeric, created_at timestamptz, updated_at timestamptz)`;

/**
 * Returns the slugs of the inserted rows; the others are registered already. Call it before `lockVendors`. Both take their locks in the order of
 * the slugs, so that two imports of the same vendors can't deadlock.
 */
export async function insertVendors(transaction: Transaction<DB>, rows: VendorRow[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const inserted = await sql<{ slug: string }>`
    insert into vendors (id, slug, name, website_url, support_email, security_contact, commission_percent, created_at, updated_at)
    select id, slug, name, website_url, support_email, security_contact, commission_percent, created_at, updated_at
    from ${recordset(rows)} order by slug
    on conflict (slug) do nothing returning slug`.execute(transaction);
  return inserted.rows.map(({ slug }) => slug);
}

/** Replaces the columns that a request can change. */
export async function updateVendors(transaction: Transaction<DB>, rows: VendorRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update vendors set name = given.name, website_url = given.website_url, support_email = given.support_email,
      security_contact = given.security_contact, commission_percent = given.commission_percent,
      updated_at = given.updated_at
    from ${recordset(rows)} where vendors.id = given.id`.execute(transaction);
}
