import { deferRows, executeDeferred } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/**
 * Inserts the row of this request with the next statement. A duplicate request waits here until the first one's transaction ends.
 * The result is true if the caller has to do the work: the row is new, or the stored one has expired.
 */
export async function claimRequest(
  transaction: Transaction<DB>,
  given: { request: Buffer; bodyDigest: string; now: Date; expiredBefore: Date },
): Promise<() => Promise<boolean>> {
  const statement = sql`
    insert into idempotent_responses (request, body_digest, created_at)
      values (${given.request}, ${given.bodyDigest}, ${given.now})
    on conflict (request) do update
      set body_digest = excluded.body_digest, response = null, created_at = excluded.created_at
      where idempotent_responses.created_at < ${given.expiredBefore}
    returning 1`;
  const readRows = await deferRows(transaction, "claim-request", statement);
  return async () => (await readRows()).length === 1;
}

export async function saveResponse(database: Transaction<DB>, request: Buffer, response: string): Promise<void> {
  const statement = database.updateTable("idempotent_responses").set({ response }).where("request", "=", request);
  await executeDeferred(database, "save-response", statement);
}

export function findResponse(database: Kysely<DB>, request: Buffer) {
  return database
    .selectFrom("idempotent_responses")
    .select(["body_digest", "response"])
    .where("request", "=", request)
    .executeTakeFirstOrThrow();
}

/** Skips locked rows: a concurrent request is claiming them again. */
export async function deleteResponsesBefore(database: Kysely<DB>, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from idempotent_responses where request = any (array(
      select request from idempotent_responses where created_at < ${before}
      order by created_at limit ${limit} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}
