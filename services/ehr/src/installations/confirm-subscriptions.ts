import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { holdingOrganisation, secondsUntilQuarantineCheck } from "../organisations/hold-organisation.ts";
import { requestReconciliation } from "../reconciliation/request-reconciliation.ts";
import { deriveInstallation } from "./apply-state.ts";
import {
  confirmLive,
  findUnconfirmedOrganisations,
  findUnlistedOrganisations,
  unconfirmUnlisted,
} from "./subscription-store.ts";

export interface ConfirmDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  /** Whether the marketplace's list of subscriptions can be requested. */
  reconciles: boolean;
}

const pageSize = 100;

async function* eachOrganisation(
  find: typeof findUnconfirmedOrganisations,
  database: Kysely<DB>,
  appSlug: string,
  stopped: AbortSignal,
): AsyncGenerator<string> {
  for (let last = ""; ; ) {
    const aliases = await find(database, appSlug, last, pageSize);
    for (const alias of aliases) {
      // Thrown, so that the job isn't taken for done.
      stopped.throwIfAborted();
      yield alias;
    }
    last = aliases.at(-1) ?? last;
    if (aliases.length < pageSize) return;
  }
}

/** Installs the app for an organisation that subscribed to it, now that the catalog has it. */
export async function confirmFor(deps: ConfirmDeps, orgAlias: string, appSlug: string): Promise<void> {
  await holdingOrganisation(deps, orgAlias, async (transaction) => {
    const now = deps.clock();
    if (await confirmLive(transaction, orgAlias, appSlug, now)) {
      await deriveInstallation(transaction, orgAlias, appSlug, now);
    }
  });
}

/** The same for all organisations, a transaction for each: killed in between, the rest is still unconfirmed and comes next time. */
export async function confirmForAll(deps: ConfirmDeps, appSlug: string, stopped: AbortSignal): Promise<void> {
  for await (const orgAlias of eachOrganisation(findUnconfirmedOrganisations, deps.database, appSlug, stopped)) {
    await confirmFor(deps, orgAlias, appSlug);
  }
}

/**
 * Quarantines subscriptions to an app that the catalog doesn't have, unless the marketplace listed them before. Its list, where it can be
 * requested, then decides whether they exist.
 */
export async function quarantineForAll(deps: ConfirmDeps, appSlug: string, stopped: AbortSignal): Promise<void> {
  const { database, queue, clock, logger, reconciles } = deps;
  for await (const orgAlias of eachOrganisation(findUnlistedOrganisations, database, appSlug, stopped)) {
    logger.warn(
      { orgAlias, appSlug },
      "quarantined a subscription to an app that the marketplace's catalog doesn't have",
    );
    await holdingOrganisation(deps, orgAlias, async (transaction) => {
      if (await unconfirmUnlisted(transaction, orgAlias, appSlug)) {
        await deriveInstallation(transaction, orgAlias, appSlug, clock());
      }
      if (!reconciles) return;
      const startAfter = await secondsUntilQuarantineCheck(transaction, orgAlias, clock());
      await requestReconciliation(transaction, queue, orgAlias, { because: "quarantine", startAfter });
    });
  }
}
