import { createHash } from "node:crypto";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { idempotencyProblems } from "./idempotency-errors.ts";
import { claim, findAnswer, keepAnswer } from "./idempotent-answer-store.ts";

/** A request that its sender may repeat, without knowing whether it arrived. */
export interface Repeatable {
  key: string | undefined;
  method: string;
  path: string;
  body: unknown;
}

export const keptMs: number = 24 * 3_600_000;

/**
 * Not keyed, because it has to find its row after a rotation of keys. It holds no secret: caller, method, path, and a key that the
 * caller invented.
 */
const requestDigest = (request: string[]): Buffer => createHash("sha256").update(JSON.stringify(request)).digest();

export interface OnceBy {
  caller: Caller;
  now: Date;
  /** Keyed, because a body may hold a secret that an unkeyed digest would let a reader of the database guess. */
  bodyDigest: KeyedDigest;
}

/**
 * Does the work once per key and answers every repetition with the first answer. The claim, the work and the answer are
 * one transaction: a twin waits for it to end, and when it fails or its process dies, the key is as free as before.
 */
export async function once<T>(
  transaction: Transaction<DB>,
  by: OnceBy,
  { key, method, path, body: given }: Repeatable,
  work: () => Promise<T>,
): Promise<T> {
  if (key === undefined) return work();
  const request = requestDigest([by.caller.issuer, by.caller.subject, method, path, key]);
  const body = JSON.stringify(given ?? null);
  const forgottenBefore = new Date(by.now.getTime() - keptMs);
  if (await claim(transaction, { request, bodyDigest: by.bodyDigest.create(body), now: by.now, forgottenBefore })) {
    const answer = await work();
    await keepAnswer(transaction, request, JSON.stringify(answer));
    return answer;
  }
  const kept = await findAnswer(transaction, request);
  if (!by.bodyDigest.matches(kept.body_digest, body)) {
    throw new Problem(idempotencyProblems.keyReused, "This Idempotency-Key came with another body before.");
  }
  return kept.answer as T;
}
