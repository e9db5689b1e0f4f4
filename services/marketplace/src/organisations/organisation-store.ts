import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Organisations } from "../database-schema.ts";

export type OrganisationRow = Omit<Selectable<Organisations>, "callback_networks" | "callback_origin"> & {
  callback_networks: string[];
};

const columns = sql<OrganisationRow>`id, alias, display_name, callback_url, callback_networks::text[], encrypted_secret,
  created_at, updated_at`;

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

export async function findOrganisationId(database: Kysely<DB>, alias: string): Promise<string | undefined> {
  const found = await database.selectFrom("organisations").select("id").where("alias", "=", alias).executeTakeFirst();
  return found?.id;
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

/** Locks organisations whose secret was encrypted with another key version. */
export function lockOrganisationsToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("organisations")
    .select(["id", "encrypted_secret"])
    .where("encrypted_secret", "not like", `${version}.%`)
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .execute();
}
