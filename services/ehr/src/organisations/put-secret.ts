import { timingSafeEqual } from "node:crypto";
import type { AuditEntry, PutSecretBody } from "@ehr-marketplace/contracts";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import { isUsableSecret } from "@ehr-marketplace/webhook-signature";
import type { Kysely } from "kysely";
import { type Actor, type AuditedAction, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { insertOrganisation, lockOrganisation, type SecretRow, updateOrganisation } from "./organisation-store.ts";
import { requestReconciliation } from "./request-reconciliation.ts";

export interface SecretDeps {
  database: Kysely<DB>;
  queue: Queue;
  encryption: Encryption;
  clock: () => Date;
  /** Whether credentials for the marketplace are configured, so that organisations are reconciled. */
  reconciles: boolean;
}

export interface SecretPut {
  created: boolean;
  orgAlias: string;
  previousUntil: string | null;
}

const dayInSeconds = 86_400;

/**
 * Sets an organisation's secret. The previous one stays valid during the overlap. Setting the same secret again changes nothing, so that a
 * retry after a lost response doesn't end the overlap; with `overlapSeconds` it changes the overlap's end.
 */
export async function putSecret(
  deps: SecretDeps,
  actor: Actor,
  alias: string,
  body: PutSecretBody,
): Promise<SecretPut> {
  const { database, queue, encryption, clock, reconciles } = deps;
  requireUsableSecret(body.secret);
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    const record = (before: AuditEntry["before"], after: AuditEntry["after"]): Promise<void> =>
      recordAudit(transaction, secretAudit(actor, now, alias, before, after));
    const encrypted_secret = encryption.encrypt(body.secret, secretOwner(alias));
    const fresh = { alias, encrypted_secret, created_at: now, updated_at: now };
    const created = await insertOrganisation(transaction, fresh);
    const before = created ? undefined : await lockOrganisation(transaction, alias);
    // The marketplace may have given up on events that could not be verified before, so request a reconciliation.
    if (created || before === undefined) {
      if (reconciles) await requestReconciliation(transaction, queue, alias);
      await record(null, { secretChanged: true, previousUntil: null });
      return { created, orgAlias: alias, previousUntil: null };
    }
    const { isKept, changes } = decideSecretChange(encryption, alias, before, body, now);
    if (changes !== undefined) {
      await updateOrganisation(transaction, alias, { ...changes, updated_at: now });
      if (reconciles) await requestReconciliation(transaction, queue, alias);
    }
    const previousUntil = (changes ?? before).previous_until?.toISOString() ?? null;
    const previouslyUntil = before.previous_until?.toISOString() ?? null;
    await record({ previousUntil: previouslyUntil }, { secretChanged: !isKept, previousUntil });
    return { created, orgAlias: alias, previousUntil };
  });
}

export function requireUsableSecret(secret: string): void {
  if (isUsableSecret(secret)) return;
  throw invalidRequest("/body/secret", "begins with whsec_, but the rest is not padded Base64");
}

export function secretAudit(
  actor: Actor,
  at: Date,
  alias: string,
  before: AuditEntry["before"],
  after: AuditEntry["after"],
): AuditedAction {
  const target = { kind: "organisation", id: alias };
  return { actor, at, onBehalfOf: alias, action: "organisation.put-secret", target, before, after };
}

/** What setting the secret of an existing organisation changes; `changes` is undefined if nothing. */
export function decideSecretChange(
  encryption: Encryption,
  alias: string,
  before: SecretRow,
  { secret, overlapSeconds }: PutSecretBody,
  now: Date,
): { isKept: boolean; changes: (Overlap & { encrypted_secret?: string }) | undefined } {
  // A new secret replaces one that can't be decrypted because its key is lost.
  const current = encryption.decryptIfPossible(before.encrypted_secret, secretOwner(alias));
  if (current !== undefined && isEqualSecret(current, secret)) {
    return { isKept: true, changes: overlapOfSameSecret(before, overlapSeconds, now) };
  }
  const encrypted_secret = encryption.encrypt(secret, secretOwner(alias));
  const overlap = overlapWith(encryption, alias, current, overlapSeconds ?? dayInSeconds, now);
  return { isKept: false, changes: { encrypted_secret, ...overlap } };
}

type Overlap = Pick<SecretRow, "encrypted_previous_secret" | "previous_until">;

const noOverlap: Overlap = { encrypted_previous_secret: null, previous_until: null };

function overlapFor(encryptedPrevious: string, seconds: number, now: Date): Overlap {
  if (seconds === 0) return noOverlap;
  return { encrypted_previous_secret: encryptedPrevious, previous_until: new Date(now.getTime() + seconds * 1_000) };
}

function overlapWith(
  encryption: Encryption,
  alias: string,
  previous: string | undefined,
  seconds: number,
  now: Date,
): Overlap {
  return previous === undefined
    ? noOverlap
    : overlapFor(encryption.encrypt(previous, previousSecretOwner(alias)), seconds, now);
}

function overlapOfSameSecret(before: SecretRow, seconds: number | undefined, now: Date): Overlap | undefined {
  if (before.encrypted_previous_secret === null || before.previous_until === null) return undefined;
  // An overlap that has ended can't be extended: the secret may have been replaced because it was leaked.
  if (before.previous_until <= now) return noOverlap;
  return seconds === undefined ? undefined : overlapFor(before.encrypted_previous_secret, seconds, now);
}

function isEqualSecret(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
