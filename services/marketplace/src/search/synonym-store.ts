import type { SynonymGroup } from "@ehr-marketplace/contracts";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** Writers of the catalog's dictionary take this lock first. */
export async function lockSynonyms(transaction: Transaction<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('catalog'))`.execute(transaction);
}

export async function findSynonyms(database: Kysely<DB>): Promise<SynonymGroup[]> {
  const rows = await database.selectFrom("search_synonyms").select(["term", "synonyms"]).orderBy("position").execute();
  return rows.map(({ term, synonyms }) => (term === null ? { synonyms } : { term, synonyms }));
}

export async function replaceSynonyms(transaction: Transaction<DB>, groups: SynonymGroup[]): Promise<void> {
  await transaction.deleteFrom("search_synonyms").execute();
  await sql`
    insert into search_synonyms (position, term, synonyms)
    select position, given ->> 'term', array(select json_array_elements_text(given -> 'synonyms'))
    from json_array_elements(${JSON.stringify(groups)}::json) with ordinality as each (given, position)`.execute(
    transaction,
  );
  await sql`select refresh_search_terms()`.execute(transaction);
}
