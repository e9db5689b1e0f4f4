import { createHash } from "node:crypto";
import { Problem } from "@ehr-marketplace/service-kit/http";
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

const digest = (value: unknown): Buffer => createHash("sha256").update(JSON.stringify(value)).digest();

/**
 * Does the work once per key and answers every repetition with the first answer. The claim, the work and the answer are
 * one transaction: a twin waits for it to end, and when it fails or its process dies, the key is as free as before.
 */
export async function once<T>(
  transaction: Transaction<DB>,
  by: { caller: Caller; now: Date },
  { key, method, path, body: given }: Repeatable,
  work: () => Promise<T>,
): Promise<T> {
  if (key === undefined) return work();
  const request = digest([by.caller.issuer, by.caller.subject, method, path, key]);
  const body = digest(given ?? null);
  const forgottenBefore = new Date(by.now.getTime() - keptMs);
  if (await claim(transaction, { request, body, now: by.now, forgottenBefore })) {
    const answer = await work();
    await keepAnswer(transaction, request, JSON.stringify(answer));
    return answer;
  }
  const kept = await findAnswer(transaction, request);
  if (!kept.body.equals(body)) {
    throw new Problem(idempotencyProblems.keyReused, "This Idempotency-Key came with another body before.");
  }
  return kept.answer as T;
}
