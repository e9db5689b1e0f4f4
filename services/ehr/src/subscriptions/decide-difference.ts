import type { DifferenceDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import { applyState } from "./apply-state.ts";
import { type DifferenceRow, deleteDifferences, findDifference, keepDifference } from "./difference-store.ts";
import { differenceDto } from "./differences.ts";
import type { PauseReason } from "./pause-reason.ts";
import { differenceNotFound } from "./subscription-errors.ts";

export interface DecideDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/** The marketplace's list is right: its state replaces the stored one. */
export function applyDifference(deps: DecideDeps, actor: Actor, id: string): Promise<DifferenceDto> {
  return decide(deps, { actor, id, action: "difference.apply" }, async (transaction, row, now) => {
    await deleteDifferences(transaction, row.org_alias, [row.subscription_id]);
    await applyState(transaction, deps.queue, {
      orgAlias: row.org_alias,
      subscriptionId: row.subscription_id,
      appSlug: row.app_slug,
      status: row.status as DifferenceDto["listed"]["status"],
      pauseReason: row.pause_reason as PauseReason | null,
      fhirScopes: row.fhir_scopes ?? undefined,
      asOf: row.as_of,
      storedAsOf: row.stored_as_of,
      isListed: true,
      now,
    });
    return row;
  });
}

/** The stored state is right: it stays until an event or the list brings a newer one. Repeating it changes nothing. */
export function keepStored(deps: DecideDeps, actor: Actor, id: string): Promise<DifferenceDto> {
  return decide(deps, { actor, id, action: "difference.keep" }, async (transaction, row, now) => {
    if (row.kept_at !== null) return row;
    await keepDifference(transaction, id, now);
    return { ...row, kept_at: now };
  });
}

/** Decides under the organisation's lock, so that no event changes the stored state meanwhile. */
async function decide(
  deps: DecideDeps,
  { actor, id, action }: { actor: Actor; id: string; action: string },
  work: (transaction: Transaction<DB>, row: DifferenceRow, now: Date) => Promise<DifferenceRow>,
): Promise<DifferenceDto> {
  const found = await findDifference(deps.database, id);
  if (found === undefined) throw differenceNotFound();
  return withOrganisationLock(deps, found.org_alias, async (transaction) => {
    const row = await findDifference(transaction, id);
    if (row === undefined) throw differenceNotFound();
    const now = deps.clock();
    const decided = differenceDto(await work(transaction, row, now));
    await recordAudit(transaction, {
      actor,
      at: now,
      onBehalfOf: row.org_alias,
      action,
      target: { kind: "subscription", id: row.subscription_id },
      before: decided.stored,
      after: action === "difference.apply" ? decided.listed : decided.stored,
    });
    return decided;
  });
}
