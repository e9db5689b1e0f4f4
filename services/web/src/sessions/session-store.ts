import type { Kysely, Selectable, Transaction } from "kysely";
import { sql } from "kysely";
import type { DB, WebSessions } from "../database-schema.ts";

export type StoredSession = Omit<Selectable<WebSessions>, "cookie_hash" | "provider_session">;

const columns = ["id", "issuer", "subject", "encrypted_tokens", "access_expires_at", "created_at", "used_at"] as const;

export async function insertSession(
  database: Kysely<DB>,
  session: StoredSession & { cookie_hash: Buffer; provider_session: string | null },
): Promise<void> {
  await database.insertInto("web.sessions").values(session).execute();
}

export function findSession(database: Kysely<DB>, cookieHash: Buffer): Promise<StoredSession | undefined> {
  return database.selectFrom("web.sessions").select(columns).where("cookie_hash", "=", cookieHash).executeTakeFirst();
}

/** Waits while another request refreshes its tokens. */
export function lockSession(transaction: Transaction<DB>, id: string): Promise<StoredSession | undefined> {
  return transaction
    .selectFrom("web.sessions")
    .select(columns)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function updateTokens(
  transaction: Transaction<DB>,
  id: string,
  tokens: Pick<StoredSession, "encrypted_tokens" | "access_expires_at">,
): Promise<void> {
  await transaction.updateTable("web.sessions").set(tokens).where("id", "=", id).execute();
}

export async function updateUse(database: Kysely<DB>, id: string, now: Date): Promise<void> {
  await database
    .updateTable("web.sessions")
    .set({ used_at: now })
    .where("id", "=", id)
    .where("used_at", "<", now)
    .execute();
}

export async function deleteSession(database: Kysely<DB>, id: string): Promise<void> {
  await database.deleteFrom("web.sessions").where("id", "=", id).execute();
}

/** Returns those that there were. */
export function deleteSessionsOfSubject(
  database: Kysely<DB>,
  { issuer, subject, before }: { issuer: string; subject: string; before: Date },
): Promise<StoredSession[]> {
  return database
    .deleteFrom("web.sessions")
    .where("subject", "=", subject)
    .where("issuer", "=", issuer)
    .where("created_at", "<=", before)
    .returning(columns)
    .execute();
}

export async function deleteSessionsOfProviderSession(
  database: Kysely<DB>,
  { issuer, providerSession }: { issuer: string; providerSession: string },
): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom("web.sessions")
    .where("provider_session", "=", providerSession)
    .where("issuer", "=", issuer)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes a batch of sessions that are over. */
export async function deleteOldSessions(
  database: Kysely<DB>,
  { usedBefore, createdBefore, limit }: { usedBefore: Date; createdBefore: Date; limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from web.sessions where id in (
      (select id from web.sessions where used_at <= ${usedBefore} order by used_at limit ${limit})
      union (select id from web.sessions where created_at <= ${createdBefore} order by created_at limit ${limit}))
  `.execute(database);
  return Number(numAffectedRows ?? 0);
}
