import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

/** Takes the place of this request, or waits until whoever has it is done. True: it is ours, or was and has expired. */
export async function claim(
  database: Kysely<DB>,
  given: { request: Buffer; bodyDigest: string; now: Date; forgottenBefore: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotent_answers (request, body_digest, answered_at)
      values (${given.request}, ${given.bodyDigest}, ${given.now})
    on conflict (request) do update
      set body_digest = excluded.body_digest, answer = null, answered_at = excluded.answered_at
      where idempotent_answers.answered_at < ${given.forgottenBefore}
    returning 1`.execute(database);
  return rows.length === 1;
}

export async function keepAnswer(database: Kysely<DB>, request: Buffer, answer: string): Promise<void> {
  await database.updateTable("idempotent_answers").set({ answer }).where("request", "=", request).execute();
}

export function findAnswer(database: Kysely<DB>, request: Buffer) {
  return database
    .selectFrom("idempotent_answers")
    .select(["body_digest", "answer"])
    .where("request", "=", request)
    .executeTakeFirstOrThrow();
}

/** One that is claimed anew at this moment is left alone. */
export async function deleteAnsweredBefore(database: Kysely<DB>, before: Date, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from idempotent_answers where request = any (array(
      select request from idempotent_answers where answered_at < ${before}
      order by answered_at limit ${most} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}
