import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Organisations } from "../database-schema.ts";

export type OrganisationRow = Omit<Selectable<Organisations>, "callback_networks" | "callback_origin" | "vendor_id"> & {
  callback_networks: string[];
  /** Of a sandbox organisation. */
  vendor_slug: string | null;
};

const columns = sql<OrganisationRow>`id, alias, display_name, callback_url, callback_networks::text[], encrypted_secret, kind,
  time_zone, (select slug from vendors where vendors.id = organisations.vendor_id) as vendor_slug, created_at, updated_at`;

export async function findOrganisationRow(database: Kysely<DB>, alias: string): Promise<OrganisationRow | undefined> {
  const { rows } = await sql<OrganisationRow>`select ${columns} from organisations where alias = ${alias}`.execute(
    database,
  );
  return rows[0];
}

export async function lockOrganisation(
  transaction: Transaction<DB>,
  alias: string,
): Promise<OrganisationRow | undefined> {
  const { rows } = await sql<OrganisationRow>`
    select ${columns} from organisations where alias = ${alias} for update`.execute(transaction);
  return rows[0];
}

export async function findOrganisationRows(
  database: Kysely<DB>,
  page: { limit: number; after: string },
): Promise<OrganisationRow[]> {
  const { rows } = await sql<OrganisationRow>`
    select ${columns} from organisations where alias > ${page.after} order by alias limit ${page.limit}`.execute(
    database,
  );
  return rows;
}

export function findOrganisationKind(
  database: Kysely<DB>,
  alias: string,
): Promise<Pick<Selectable<Organisations>, "id" | "kind" | "vendor_id"> | undefined> {
  return database
    .selectFrom("organisations")
    .select(["id", "kind", "vendor_id"])
    .where("alias", "=", alias)
    .executeTakeFirst();
}

/** Serialises the registration of a vendor's sandbox organisations, so that their number is bounded. */
export async function lockSandboxes(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sandboxes of ${vendorId}`}, 0))`.execute(transaction);
}

export async function countSandboxes(database: Kysely<DB>, vendorId: string): Promise<number> {
  const { count } = await database
    .selectFrom("organisations")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("vendor_id", "=", vendorId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns false if the alias is registered already. */
export async function insertOrganisation(
  transaction: Transaction<DB>,
  row: Insertable<Organisations>,
): Promise<boolean> {
  const inserted = await transaction
    .insertInto("organisations")
    .values(row)
    .onConflict((conflict) => conflict.column("alias").doNothing())
    .returning("id")
    .execute();
  return inserted.length === 1;
}

export async function updateOrganisation(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<Organisations>,
): Promise<void> {
  await transaction.updateTable("organisations").set(changes).where("id", "=", id).execute();
}

/** Locks those of these organisations that exist, always in the order of their aliases. */
export async function lockOrganisations(transaction: Transaction<DB>, aliases: string[]): Promise<OrganisationRow[]> {
  if (aliases.length === 0) return [];
  const { rows } = await sql<OrganisationRow>`
    select ${columns} from organisations where alias = any (${aliases}::text[]) order by alias for update`.execute(
    transaction,
  );
  return rows;
}

const recordset = (rows: unknown[]) => sql`
  json_to_recordset(${JSON.stringify(rows)}::json) as given(id uuid, alias text, display_name text, callback_url text,
    callback_networks text[], time_zone text, encrypted_secret text, created_at timestamptz, updated_at timestamptz)`;

/**
 * Returns the aliases of the inserted rows; the others are registered already. Call it before `lockOrganisations`. Both take their locks in the
 * order of the aliases, so that two imports of the same organisations can't deadlock.
 */
export async function insertOrganisations(transaction: Transaction<DB>, rows: OrganisationRow[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const inserted = await sql<{ alias: string }>`
    insert into organisations (id, alias, display_name, callback_url, callback_networks, time_zone, encrypted_secret, created_at,
      updated_at)
    select id, alias, display_name, callback_url, callback_networks::cidr[], time_zone, encrypted_secret, created_at, updated_at
    from ${recordset(rows)} order by alias
    on conflict (alias) do nothing returning alias`.execute(transaction);
  return inserted.rows.map(({ alias }) => alias);
}

/** Replaces the columns that a request can change. */
export async function updateOrganisations(transaction: Transaction<DB>, rows: OrganisationRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update organisations set display_name = given.display_name, callback_url = given.callback_url,
      callback_networks = given.callback_networks::cidr[], time_zone = given.time_zone, encrypted_secret = given.encrypted_secret,
      updated_at = given.updated_at
    from ${recordset(rows)} where organisations.id = given.id`.execute(transaction);
}

/** Locks organisations whose secret was encrypted with another key version. */
export function lockOrganisationsToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("organisations")
    .select(["id", "encrypted_secret"])
    .where("encrypted_secret", "not like", `${version}.%`)
    .orderBy("alias")
    .limit(limit)
    .forUpdate()
    .execute();
}
