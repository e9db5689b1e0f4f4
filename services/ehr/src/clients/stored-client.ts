import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Updateable } from "kysely";
import { v7 as uuid } from "uuid";
import type { Clients } from "../database-schema.ts";
import type { ClientState } from "./client.ts";
import type { Management } from "./client-results.ts";
import type { ClientRow } from "./client-store.ts";
import { connectionOf } from "./connection.ts";

/** The row that an encrypted registration token is bound to. */
export const registrationTokenOwner = (id: string): string => `clients/${id}/registration-token`;

export const stateOf = (row: ClientRow): ClientState => ({
  // Check constraints have the same values as the types.
  method: row.method as ClientState["method"],
  status: row.status as ClientState["status"],
  task: row.task as ClientState["task"],
  clientId: row.client_id,
  isManaged: row.registration_uri !== null,
  registeredSha256: row.registered_sha256,
  attempt: row.attempt as ClientState["attempt"],
  attemptedAt: row.attempted_at,
  reason: row.reason,
});

const maxReasonLength = 500;

/** The columns of a state. The stored management stays unless `isManaged` ends, or another one is given. */
export function columnsOf(
  encryption: Encryption,
  row: Pick<ClientRow, "id">,
  state: ClientState,
  management: Management | undefined,
): Updateable<Clients> {
  const ended = { registration_uri: null, encrypted_registration_token: null };
  const replaced = management && {
    registration_uri: management.uri,
    encrypted_registration_token: encryption.encrypt(management.token, registrationTokenOwner(row.id)),
  };
  return {
    method: state.method,
    status: state.status,
    task: state.task,
    client_id: state.clientId,
    ...(state.isManaged ? replaced : ended),
    registered_sha256: state.registeredSha256,
    attempt: state.attempt,
    attempted_at: state.attemptedAt,
    reason: state.reason?.slice(0, maxReasonLength) ?? null,
  };
}

export const newVersion = (): string => uuid();

/** Whether organisations and vendors have to be told. */
export function isReportChanged(before: ClientState, after: ClientState): boolean {
  return JSON.stringify(connectionOf(before)) !== JSON.stringify(connectionOf(after));
}

/** Undefined if it isn't stored, or if the key of the token is missing. */
export function decryptManagement(encryption: Encryption, row: ClientRow): Management | undefined {
  const { id, registration_uri: uri, encrypted_registration_token: encrypted } = row;
  if (uri === null || encrypted === null) return undefined;
  const token = encryption.decryptIfPossible(encrypted, registrationTokenOwner(id));
  return token === undefined ? undefined : { uri, token };
}

/** Two clients can't have the same client_id. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown }).code === "23505";
