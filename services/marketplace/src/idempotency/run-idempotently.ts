import { createHash } from "node:crypto";
import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { idempotencyProblems } from "./idempotency-errors.ts";
import { claimRequest, deleteResponsesBefore, findResponse, saveResponse } from "./idempotent-response-store.ts";

/** The parts of a request that identify it when the client repeats it. */
export interface IdempotentRequest {
  key: string | undefined;
  method: string;
  path: string;
  body: unknown;
}

const retentionMs = 24 * 3_600_000;

/**
 * Not keyed, because the row must be found after the encryption keys were rotated. The input has no secret: caller, method, path and
 * the client's idempotency key.
 */
const requestDigest = (request: string[]): Buffer => createHash("sha256").update(JSON.stringify(request)).digest();

export interface IdempotencyContext {
  caller: Caller;
  now: Date;
  /** Keyed, because a body may contain a secret that could be guessed from an unkeyed digest. */
  bodyDigest: KeyedDigest;
}

/**
 * Runs the work once per idempotency key and returns the stored response to repeated requests. Claim, work and response are
 * one transaction: a duplicate request waits for it, and a failure or crash releases the key.
 */
export async function runIdempotently<T>(
  transaction: Transaction<DB>,
  context: IdempotencyContext,
  request: IdempotentRequest,
  work: () => Promise<T>,
): Promise<T> {
  const run = await claimKey(transaction, context, request);
  return run(work);
}

/**
 * Claims the key together with the next statement of the transaction. Returns the function that runs the work, if this request is the
 * first: the caller can read and check before that.
 */
export async function claimKey(
  transaction: Transaction<DB>,
  context: IdempotencyContext,
  { key, method, path, body: given }: IdempotentRequest,
): Promise<<T>(work: () => Promise<T>) => Promise<T>> {
  if (key === undefined) return (work) => work();
  const request = requestDigest([context.caller.issuer, context.caller.subject, method, path, key]);
  const body = JSON.stringify(given ?? null);
  const isClaimed = await claimRequest(transaction, {
    request,
    bodyDigest: context.bodyDigest.create(body),
    now: context.now,
    expiredBefore: new Date(context.now.getTime() - retentionMs),
  });
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (await isClaimed()) {
      const response = await work();
      await saveResponse(transaction, request, JSON.stringify(response));
      return response;
    }
    const stored = await findResponse(transaction, request);
    if (!context.bodyDigest.matches(stored.body_digest, body)) {
      throw new Problem(idempotencyProblems.keyReused, "This Idempotency-Key was used with another body.");
    }
    return stored.response as T;
  };
}

/** Deletes stored responses whose retention period has passed. */
export function deleteExpiredResponses(database: Kysely<DB>, now: Date, batches?: BatchOptions): Promise<number> {
  const before = new Date(now.getTime() - retentionMs);
  return runInBatches((limit) => deleteResponsesBefore(database, before, limit), batches);
}
