import { createHash } from "node:crypto";
import type { AppClientDto, ListAppClientsQuery } from "@ehr-marketplace/contracts";
import { listPage } from "@ehr-marketplace/service-kit/http";
import type { Kysely, Transaction } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { type ClientState, isInProgress, newClient, registeredStatus } from "./client.ts";
import { clientBusy, clientIdTaken, clientManaged, clientNotFound } from "./client-errors.ts";
import { findMetadata } from "./client-metadata-store.ts";
import {
  type ClientRow,
  deleteClient as deleteRow,
  findClient,
  findClients,
  findInstallationOf,
  type ListedClient,
  lockClient,
} from "./client-store.ts";
import { requestClientJob } from "./request-client-job.ts";
import { type StoreDeps, storeState } from "./store-state.ts";
import { isUniqueViolation, stateOf } from "./stored-client.ts";

export interface ManageDeps extends StoreDeps {
  database: Kysely<DB>;
}

const unknownSha256 = createHash("sha256").digest("hex");
/** Operators act on few at a time, and each has up to 5 KiB of metadata. */
const maxItems = 200;

export async function listClients(
  { database }: ManageDeps,
  query: ListAppClientsQuery,
): Promise<{ items: AppClientDto[]; next: string | null }> {
  const filter = { status: query.status, onlyTasks: query.tasks === true };
  return listPage(query, {
    find: (slice) => findClients(database, filter, slice),
    getTime: (row) => row.created_at,
    toItem: toDto,
    maxItems,
  });
}

export async function getClient({ database }: ManageDeps, id: string): Promise<AppClientDto> {
  const row = await findClient(database, id);
  if (row === undefined) throw clientNotFound();
  return describe(database, row);
}

/** An operator has registered or updated the client at the authorization server. From then on, it is the operator's to manage. */
export function putClient(deps: ManageDeps, actor: Actor, id: string, clientId: string): Promise<AppClientDto> {
  return change(deps, actor, id, "client.put", async (transaction, row, client) => {
    requireOperators(client, "This service registers the client itself, so its client_id can't be set.");
    // Where the marketplace has not said what to register, whatever it says later has to be compared by an operator.
    const registeredSha256 = (await findMetadata(transaction, row.app_slug))?.sha256 ?? unknownSha256;
    const registered = { clientId, isManaged: false, registeredSha256, attempt: null, attemptedAt: null };
    const ready = { method: "manual", status: "ready", task: null, reason: null } as const;
    await storeState(deps, transaction, row, { ...client, ...registered, ...ready });
    // If no organisation has the app any more, removing it is the next task.
    await requestClientJob(transaction, deps.queue, { id });
  }).catch((error: unknown) => {
    throw isUniqueViolation(error) ? clientIdTaken() : error;
  });
}

/** An operator has made sure that the authorization server has no such client. If the app is installed, it gets another one. */
export async function deleteClient(deps: ManageDeps, actor: Actor, id: string): Promise<void> {
  await change(deps, actor, id, "client.delete", async (transaction, row, client) => {
    requireOperators(client, "This service removes the client itself once no organisation has the app.");
    await deleteRow(transaction, row.id);
    const orgAlias = row.org_alias ?? (await findInstallationOf(transaction, row.app_slug));
    if (orgAlias !== undefined) await requestClientJob(transaction, deps.queue, { appSlug: row.app_slug, orgAlias });
  });
}

/**
 * Throws if the client is in order without operators. Whatever this service can't bring about, they can; but whether an interrupted
 * registration had an effect has to be theirs to find out first.
 */
function requireOperators({ method, status, attempt }: ClientState, detail: string): void {
  if (method === "manual" || status === "uncertain") return;
  if (status === "ready") throw clientManaged(`${detail} If it is lost at the authorization server, retry it first.`);
  if (attempt === "register") throw clientBusy();
}

/**
 * Tries again now, and reads a client that is ready: it may be lost at the authorization server. For an uncertain client, the operator has
 * made sure that a registration had no effect.
 */
export function retryClient(deps: ManageDeps, actor: Actor, id: string): Promise<AppClientDto> {
  return change(deps, actor, id, "client.retry", async (transaction, row, client) => {
    if (client.status === "uncertain") await storeState(deps, transaction, row, settled(client));
    await requestClientJob(transaction, deps.queue, { id, isToCheck: true });
  });
}

function settled(client: ClientState): ClientState {
  if (client.attempt === "register") return newClient(client.method);
  const retried = { ...client, task: null, attempt: null, attemptedAt: null } as const;
  if (client.attempt === "update") return { ...retried, status: registeredStatus(client), reason: null };
  // One with other values than requested has to be removed, even though the app is installed.
  return client.registeredSha256 === null
    ? { ...retried, status: "failed" }
    : { ...retried, status: "removing", reason: null };
}

/** Changes the client under its lock, with an audit entry. Returns the client as it is then, or was if it is deleted. */
function change(
  { database, clock }: ManageDeps,
  actor: Actor,
  id: string,
  action: string,
  work: (transaction: Transaction<DB>, row: ClientRow, client: ClientState) => Promise<void>,
): Promise<AppClientDto> {
  return database.transaction().execute(async (transaction) => {
    const row = await lockClient(transaction, id);
    if (row === undefined) throw clientNotFound();
    const at = clock();
    if (isInProgress(stateOf(row), at)) throw clientBusy();
    await work(transaction, row, stateOf(row));
    const after = await findClient(transaction, id);
    await recordAudit(transaction, {
      actor,
      at,
      onBehalfOf: row.org_alias ?? "*",
      action,
      target: { kind: "client", id: row.app_slug },
      before: auditedState(row),
      after: after === undefined ? null : auditedState(after),
    });
    return describe(transaction, after ?? row);
  });
}

const auditedState = ({ status, client_id }: ClientRow) => ({ status, clientId: client_id });

async function describe(database: Kysely<DB>, row: ClientRow): Promise<AppClientDto> {
  const metadata = await findMetadata(database, row.app_slug);
  return toDto({ ...row, metadata: metadata?.metadata ?? null });
}

function toDto(row: ListedClient): AppClientDto {
  const { method, status, task, clientId, reason, attempt } = stateOf(row);
  return {
    id: row.id,
    appSlug: row.app_slug,
    orgAlias: row.org_alias,
    method,
    status,
    task,
    clientId,
    reason,
    attempt,
    attemptedAt: row.attempted_at?.toISOString() ?? null,
    metadata: row.metadata === null ? null : toRegistrable(row.metadata),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The authorization server chooses the client_id of a client that is registered. */
function toRegistrable(metadata: string): Record<string, unknown> {
  const { client_id: _ofTheMarketplace, ...members } = JSON.parse(metadata) as Record<string, unknown>;
  return members;
}
