import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type ClientState, type Step, toUncertain } from "./client.ts";
import type { ClientRegistrar } from "./client-registrar.ts";
import {
  afterCheck,
  afterRegistration,
  afterRemoval,
  afterUpdate,
  type CheckResult,
  type Management,
  type RegistrationResult,
  type RemovalResult,
  type Settled,
  type UpdateResult,
} from "./client-results.ts";
import { type ClientRow, deleteClient, lockClient } from "./client-store.ts";
import type { StoredMetadata } from "./ensure-client-metadata.ts";
import { type StoreDeps, storeState } from "./store-state.ts";
import { decryptManagement, isUniqueViolation } from "./stored-client.ts";

export interface SettleDeps extends StoreDeps {
  database: Kysely<DB>;
  logger: Logger;
  registrar: ClientRegistrar;
}

export type RequestedStep = Extract<Step, { kind: "request" }> & {
  row: ClientRow;
  metadata: StoredMetadata | undefined;
};

type Result = RegistrationResult | CheckResult | UpdateResult | RemovalResult;

/**
 * Sends the request that was recorded, and stores its result. `next`: there may be more to do. `later`: the request has to be sent again.
 * `settled`: what was refused would be refused again, and what is uncertain is for an operator.
 */
export async function settleRequest(deps: SettleDeps, step: RequestedStep): Promise<"next" | "later" | "settled"> {
  const { attempt, next: client, row } = step;
  const { result, settled } = await sendRequest(deps, step);
  const fields = { appSlug: row.app_slug, orgAlias: row.org_alias, attempt, result: result.kind };
  if ("reason" in result) {
    const description = "description" in result ? { description: result.description } : {};
    const failure = { ...fields, reason: result.reason, ...description };
    deps.logger.warn(failure, "a request to the authorization server for a client didn't succeed");
  } else {
    deps.logger.info(fields, "sent a request to the authorization server for a client");
  }
  const isStored = await retryStoring(() => storeSettled(deps, row, client, settled));
  if (!isStored) await undoRegistration(deps, row, result);
  if (settled.retriesSoon) return "later";
  const isDone = result.kind === "registered" || result.kind === "updated";
  const isToBeRemoved = settled.next?.status === "failed" && settled.next.isManaged;
  return settled.next === undefined || isDone || isToBeRemoved ? "next" : "settled";
}

async function sendRequest(
  { registrar, encryption }: SettleDeps,
  { attempt, next: client, row, metadata, mayBeGone }: RequestedStep,
): Promise<{ result: Result; settled: Settled }> {
  const [text, sha256] = metadata?.kind === "found" ? [metadata.text ?? "", metadata.sha256] : ["", ""];
  if (attempt === "register") {
    const result = await registrar.register(text);
    return { result, settled: afterRegistration(client, result, sha256) };
  }
  const management = decryptManagement(encryption, row);
  if (management === undefined) {
    const result = { kind: "denied", reason: "The stored registration token can't be decrypted." } as const;
    return { result, settled: { next: toUncertain(client, result.reason), retriesSoon: false } };
  }
  if (attempt === "check") {
    const result = await registrar.read(management, client.clientId ?? "");
    return { result, settled: afterCheck(client, result) };
  }
  if (attempt === "update") {
    const result = await registrar.update(management, client.clientId ?? "", text);
    return { result, settled: afterUpdate(client, result, sha256) };
  }
  const result = await registrar.remove(management);
  return { result, settled: afterRemoval(client, result, mayBeGone) };
}

const storeForMs = 10_000;
const storeRetryMs = 500;

/** A result that isn't stored makes the client uncertain, so a short outage of the database is bridged. */
async function retryStoring<T>(store: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += storeRetryMs) {
    try {
      return await store();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || waitedMs >= storeForMs) throw error;
      await delay(storeRetryMs);
    }
  }
}

/** Returns false if the attempt is no longer the row's: an operator settled it, because it took longer than its lease. */
async function storeSettled(
  deps: SettleDeps,
  row: ClientRow,
  client: ClientState,
  { next, management }: Settled,
): Promise<boolean> {
  const store = (state: ClientState | undefined, given?: Management): Promise<boolean> =>
    deps.database.transaction().execute(async (transaction) => {
      const stored = await lockClient(transaction, row.id);
      if (stored?.attempted_at?.getTime() !== client.attemptedAt?.getTime()) return false;
      if (stored === undefined) return false;
      if (state === undefined) await deleteClient(transaction, row.id);
      else await storeState(deps, transaction, stored, state, given);
      return true;
    });
  return store(next, management).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    return store(toUncertain(client, "The authorization server responded with the client_id of another client."));
  });
}

/** Nobody would know of the client. */
async function undoRegistration({ registrar, logger }: SettleDeps, row: ClientRow, result: Result): Promise<void> {
  if (!("clientId" in result)) return;
  const { clientId, management } = result;
  const removed = management === undefined ? undefined : await registrar.remove(management);
  logger.error(
    {
      appSlug: row.app_slug,
      orgAlias: row.org_alias,
      registeredClientId: clientId,
      isRemoved: removed?.kind === "removed",
    },
    "registered a client that is no longer needed; unless it is removed, remove it at the authorization server",
  );
}
