import { timingSafeEqual } from "node:crypto";
import type { AuditEntry, PutSecretBody } from "@ehr-marketplace/contracts";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import { isUsableSecret } from "@ehr-marketplace/webhook-signature";
import type { Kysely } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { requestReconciliation } from "../reconciliation/request-reconciliation.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { insertOrganisation, lockOrganisation, type SecretRow, updateOrganisation } from "./organisation-store.ts";

export interface KeepingSecrets {
  database: Kysely<DB>;
  queue: Queue;
  seal: Seal;
  clock: () => Date;
  /** Whether organisations are held against the marketplace's list at all. */
  reconciles: boolean;
}

export interface SecretPut {
  created: boolean;
  orgAlias: string;
  previousUntil: string | null;
}

const dayInSeconds = 86_400;

/**
 * Takes a secret into use, and lets the one before verify for a while. Put again, the same secret changes nothing: what
 * is repeated because its answer was lost doesn't end the overlap. With `overlapSeconds` it moves the overlap's end.
 */
export async function putSecret(
  keeping: KeepingSecrets,
  actor: Actor,
  alias: string,
  body: PutSecretBody,
): Promise<SecretPut> {
  const { database, queue, seal, clock, reconciles } = keeping;
  if (!isUsableSecret(body.secret)) {
    throw invalidRequest("/body/secret", "begins with whsec_, but what follows is not padded Base64");
  }
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    const record = (before: AuditEntry["before"], after: AuditEntry["after"]): Promise<void> =>
      recordAudit(transaction, {
        actor,
        at: now,
        onBehalfOf: alias,
        action: "organisation.put-secret",
        target: { kind: "organisation", id: alias },
        before,
        after,
      });
    const sealed_secret = seal.close(body.secret, secretOwner(alias));
    const fresh = { alias, sealed_secret, created_at: now, updated_at: now };
    const created = await insertOrganisation(transaction, fresh);
    const before = created ? undefined : await lockOrganisation(transaction, alias);
    // What the marketplace sent while nothing here could verify it may have been given up there.
    if (created || before === undefined) {
      if (reconciles) await requestReconciliation(transaction, queue, alias);
      await record(null, { secretChanged: true, previousUntil: null });
      return { created, orgAlias: alias, previousUntil: null };
    }
    // A new secret is the way out where the key of the old one is lost.
    const current = seal.openIfPossible(before.sealed_secret, secretOwner(alias));
    const isKept = current !== undefined && isSame(current, body.secret);
    const changes = isKept
      ? sameSecret(before, body.overlapSeconds, now)
      : { sealed_secret, ...overlapWith(seal, alias, current, body.overlapSeconds ?? dayInSeconds, now) };
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

type Overlap = Pick<SecretRow, "sealed_previous_secret" | "previous_until">;

const none: Overlap = { sealed_previous_secret: null, previous_until: null };

function overlap(sealedPrevious: string, seconds: number, now: Date): Overlap {
  if (seconds === 0) return none;
  return { sealed_previous_secret: sealedPrevious, previous_until: new Date(now.getTime() + seconds * 1_000) };
}

function overlapWith(seal: Seal, alias: string, previous: string | undefined, seconds: number, now: Date): Overlap {
  return previous === undefined ? none : overlap(seal.close(previous, previousSecretOwner(alias)), seconds, now);
}

function sameSecret(before: SecretRow, seconds: number | undefined, now: Date): Overlap | undefined {
  if (before.sealed_previous_secret === null || before.previous_until === null) return undefined;
  // What has ended stays ended: it may have been replaced because somebody saw it.
  if (before.previous_until <= now) return none;
  return seconds === undefined ? undefined : overlap(before.sealed_previous_secret, seconds, now);
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
