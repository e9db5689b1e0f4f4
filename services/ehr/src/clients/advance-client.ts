import { isSandboxSlug, type RegistrationMethod } from "@ehr-marketplace/contracts";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { newClient, nextStep } from "./client.ts";
import {
  type ClientKey,
  type ClientRow,
  deleteClient,
  findClient,
  findClientByKey,
  findInstalledApp,
  type InstalledApp,
  insertClient,
  lockClientByKey,
} from "./client-store.ts";
import { ensureClientMetadata, type MetadataDeps, type StoredMetadata } from "./ensure-client-metadata.ts";
import { type RequestedStep, type SettleDeps, settleRequest } from "./settle-request.ts";
import { storeState } from "./store-state.ts";
import { newVersion, stateOf } from "./stored-client.ts";

export interface ClientDeps extends MetadataDeps, SettleDeps {
  method: RegistrationMethod;
  /** One client for each app, or one for each organisation and app. */
  per: "app" | "organisation";
}

/** The job has to be repeated, at growing intervals. */
export class ClientRetryError extends Error {
  override readonly name = "ClientRetryError";
}

/** Registering, being told of other values, removing, and then once more: no sequence of steps is longer. */
const maxSteps = 10;

/**
 * Brings a client to the state that it should have. With `isToCheck`, the authorization server is also asked whether it has the client.
 * Returns its row, if there is one then.
 */
export async function advanceClient(
  deps: ClientDeps,
  key: ClientKey,
  isToCheck = false,
): Promise<ClientRow | undefined> {
  for (let count = 0; count < maxSteps; count += 1) {
    const metadata = await prepareMetadata(deps, key);
    const step = await takeStep(deps, key, metadata, isToCheck);
    if (step === "done") break;
    if (step === "next") continue;
    // The attempt is committed before the request, so that a killed process leaves a trace of it.
    const result = await settleRequest(deps, step);
    if (result === "later") throw new ClientRetryError("the authorization server didn't accept the request for now");
    if (result === "settled") break;
  }
  return findClientByKey(deps.database, key);
}

/** The same for a client that exists. */
export async function advanceClientById(
  deps: ClientDeps,
  id: string,
  isToCheck: boolean,
): Promise<ClientRow | undefined> {
  const row = await findClient(deps.database, id);
  return row && advanceClient(deps, { appSlug: row.app_slug, orgAlias: row.org_alias }, isToCheck);
}

/** Whether the configuration wants clients of this kind: an operator may have changed it. */
const isConfigured = ({ per }: ClientDeps, { orgAlias }: ClientKey): boolean =>
  (per === "organisation") === (orgAlias !== null);

/** Fetches the metadata if the client is wanted. Its row is inserted first, so that it is visible while the marketplace can't be reached. */
async function prepareMetadata(deps: ClientDeps, key: ClientKey): Promise<StoredMetadata | undefined> {
  const { database } = deps;
  const app = await findInstalledApp(database, key);
  if (app?.isNeeded !== true || !isConfigured(deps, key)) return undefined;
  if (app.signsIn) await database.transaction().execute((transaction) => ensureRow(deps, transaction, key));
  return ensureClientMetadata(deps, key.appSlug);
}

async function ensureRow({ method, clock }: ClientDeps, transaction: Transaction<DB>, key: ClientKey): Promise<void> {
  if ((await findClientByKey(transaction, key)) !== undefined) return;
  const now = clock();
  const { status } = newClient(method);
  const fresh = { id: uuid(), app_slug: key.appSlug, org_alias: key.orgAlias, method, status };
  await insertClient(transaction, { ...fresh, version: newVersion(), created_at: now, updated_at: now });
}

async function takeStep(
  deps: ClientDeps,
  key: ClientKey,
  metadata: StoredMetadata | undefined,
  isToCheck: boolean,
): Promise<"done" | "next" | RequestedStep> {
  return deps.database.transaction().execute(async (transaction) => {
    const app = await findInstalledApp(transaction, key);
    const isNeeded = app?.isNeeded === true && isConfigured(deps, key);
    // It was installed just now: the metadata is needed.
    if (isNeeded && metadata === undefined) return "next";
    if (isNeeded && metadata?.kind === "found") await ensureRow(deps, transaction, key);
    const row = await lockClientByKey(transaction, key);
    if (row === undefined) return "done";
    const isReplaced = app?.isNeeded === true && !isNeeded;
    const facts = { ...factsOf(deps, row, app), isNeeded, isReplaced, metadata, isToCheck };
    const step = nextStep(stateOf(row), facts);
    switch (step.kind) {
      case "none":
        return "done";
      case "wait":
        throw new ClientRetryError("another process sends a request for the client");
      case "delete":
        await deleteClient(transaction, row.id);
        return "done";
      case "store":
        await storeState(deps, transaction, row, step.next);
        return "next";
      case "request": {
        await storeState(deps, transaction, row, step.next);
        return { ...step, row, metadata };
      }
    }
  });
}

const factsOf = (
  { method: configured, registrar, clock }: ClientDeps,
  { app_slug: appSlug, registration_uri: uri }: ClientRow,
  app: InstalledApp | undefined,
) => ({
  configured,
  signsIn: app?.signsIn === true,
  isSandbox: isSandboxSlug(appSlug),
  isElsewhere: uri !== null && (configured !== "dcr" || !registrar.isServerOf(uri)),
  now: clock(),
});
