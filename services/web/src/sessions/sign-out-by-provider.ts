import type { LogoutToken } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteSessionsOfProviderSession, deleteSessionsOfSubject } from "./session-store.ts";

/** `iat` has whole seconds: a session that began in the same second is ended too. */
const secondMs = 1_000;

/**
 * Ends the sessions that a logout token names. A repeated token ends nothing that began later: a session of the provider ends for good, and
 * of a user only the sessions until then are ended.
 */
export async function signOutByProvider(database: Kysely<DB>, token: LogoutToken): Promise<number> {
  const { issuer, providerSession, subject, issuedAt } = token;
  if (providerSession !== undefined) return deleteSessionsOfProviderSession(database, { issuer, providerSession });
  const before = new Date(issuedAt.getTime() + secondMs - 1);
  return subject === undefined ? 0 : deleteSessionsOfSubject(database, { issuer, subject }, before);
}
