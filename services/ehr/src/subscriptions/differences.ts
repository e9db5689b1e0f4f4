import type { DifferenceDto, ListDifferencesQuery } from "@ehr-marketplace/contracts";
import { listPage } from "@ehr-marketplace/service-kit/http";
import type { Kysely, Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import {
  type DifferenceRow,
  deleteDifferences,
  findDifferences,
  findDifferingSubscriptions,
  upsertDifference,
} from "./difference-store.ts";
import type { PauseReason } from "./pause-reason.ts";

export interface WithheldState {
  orgAlias: string;
  subscriptionId: string;
  appSlug: string;
  status: string;
  pauseReason?: PauseReason | null | undefined;
  fhirScopes?: string | undefined;
  asOf: Date;
  storedAsOf: Date;
  now: Date;
}

/** Stores what the list says, for an operator to decide on. What an operator has kept stays kept while the list says the same. */
export async function recordDifference(transaction: Transaction<DB>, withheld: WithheldState): Promise<void> {
  await upsertDifference(transaction, {
    id: uuid(),
    org_alias: withheld.orgAlias,
    subscription_id: withheld.subscriptionId,
    app_slug: withheld.appSlug,
    status: withheld.status,
    pause_reason: withheld.pauseReason ?? null,
    fhir_scopes: withheld.fhirScopes ?? null,
    as_of: withheld.asOf,
    stored_as_of: withheld.storedAsOf,
    found_at: withheld.now,
  });
}

/** The organisation's subscriptions that a difference is stored of. */
export const findDiffering = (database: Kysely<DB>, orgAlias: string): Promise<Set<string>> =>
  findDifferingSubscriptions(database, orgAlias);

/** Deletes the differences of subscriptions on which the list and the stored states agree again. */
export async function forgetDifferences(database: Kysely<DB>, orgAlias: string, ids: string[]): Promise<void> {
  if (ids.length > 0) await deleteDifferences(database, orgAlias, ids);
}

export function listDifferences(
  { database }: { database: Kysely<DB> },
  query: ListDifferencesQuery,
): Promise<{ items: DifferenceDto[]; next: string | null }> {
  return listPage(query, {
    find: (slice) => findDifferences(database, { areKept: query.kept === true }, slice),
    getTime: (row) => row.found_at,
    toItem: differenceDto,
  });
}

export function differenceDto(row: DifferenceRow): DifferenceDto {
  const reasonOf = (reason: string | null) => reason as PauseReason | null;
  return {
    id: row.id,
    orgAlias: row.org_alias,
    subscriptionId: row.subscription_id,
    appSlug: row.app_slug,
    stored: {
      status: row.stored_status as DifferenceDto["stored"]["status"],
      pauseReason: reasonOf(row.stored_pause_reason),
      asOf: row.stored_as_of.toISOString(),
    },
    listed: {
      status: row.status as DifferenceDto["listed"]["status"],
      pauseReason: reasonOf(row.pause_reason),
      asOf: row.as_of.toISOString(),
    },
    foundAt: row.found_at.toISOString(),
    keptAt: row.kept_at?.toISOString() ?? null,
  };
}
