import type { Kysely, QueryCreator, Selectable, Transaction } from "kysely";
import { sql } from "kysely";
import type { DB, WebSessions } from "../database-schema.ts";
import type { Session } from "./session.ts";

export type StoredSession = Omit<Selectable<WebSessions>, "cookie_hash" | "provider_session">;

const columns = ["id", "issuer", "subject", "encrypted_tokens", "access_expires_at", "created_at", "used_at"] as const;

type Subject = Pick<Session, "issuer" | "subject">;

/** Deletes the subject's sessions beyond the limit, those that were used least recently. */
export async function insertSession(
  transaction: Transaction<DB>,
  session: StoredSession & { cookie_hash: Buffer; provider_session: string | null },
  maxOfSubject: number,
): Promise<void> {
  const { issuer, subject } = session;
  // Otherwise several sign-ins at once would each leave room for only their own session.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sessions of ${subject}`}, 0))`.execute(transaction);
  await transaction
    .deleteFrom("web.sessions")
    .where("id", "in", (from) =>
      from
        .selectFrom("web.sessions")
        .select("id")
        .where("subject", "=", subject)
        .where("issuer", "=", issuer)
        .orderBy("used_at", "desc")
        .offset(maxOfSubject - 1),
    )
    .execute();
  await transaction.insertInto("web.sessions").values(session).execute();
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

/** How long the transaction may wait for something else than the database before PostgreSQL ends its connection. */
export async function allowIdle(transaction: Transaction<DB>, ms: number): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', ${String(ms)}, true)`.execute(transaction);
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

/** Returns what it was: another request may have refreshed its tokens since it was read. */
export function deleteSession(database: Kysely<DB>, id: string): Promise<StoredSession | undefined> {
  return database.deleteFrom("web.sessions").where("id", "=", id).returning(columns).executeTakeFirst();
}

const deleteOfSubject = (database: QueryCreator<DB>, { issuer, subject }: Subject, before: Date) =>
  database
    .deleteFrom("web.sessions")
    .where("subject", "=", subject)
    .where("issuer", "=", issuer)
    .where("created_at", "<=", before);

export async function deleteSessionsOfSubject(database: Kysely<DB>, subject: Subject, before: Date): Promise<number> {
  const { numDeletedRows } = await deleteOfSubject(database, subject, before).executeTakeFirst();
  return Number(numDeletedRows);
}

/** Returns how many there were, and those that were used last. */
export async function endSessionsOfSubject(
  database: Kysely<DB>,
  subject: Subject,
  { before, limit }: { before: Date; limit: number },
): Promise<{ count: number; newest: StoredSession[] }> {
  const newest = await database
    .with("ended", (query) => deleteOfSubject(query, subject, before).returning(columns))
    .selectFrom("ended")
    .select(columns)
    .select(sql<string>`count(*) over ()`.as("count"))
    .orderBy("used_at", "desc")
    .limit(limit)
    .execute();
  return { count: Number(newest[0]?.count ?? 0), newest };
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
