import { isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deriveInstallation } from "../installations/derive-installation.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import { secondsUntilQuarantineCheck } from "../organisations/reconciliation-state.ts";
import { requestReconciliation } from "../organisations/request-reconciliation.ts";
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
      // Thrown, so that the job doesn't count as completed.
      stopped.throwIfAborted();
      yield alias;
    }
    last = aliases.at(-1) ?? last;
    if (aliases.length < pageSize) return;
  }
}

/**
 * Installs an app that the catalog has for one organisation that subscribed to it. Nobody has reviewed a sandbox app, so that the marketplace's
 * list has to confirm the subscription: otherwise, an event that is forged with a practice's secret would install a draft in the practice.
 */
export async function confirmFor(deps: ConfirmDeps, orgAlias: string, appSlug: string): Promise<void> {
  await withOrganisationLock(deps, orgAlias, async (transaction) => {
    if (isSandboxSlug(appSlug)) {
      await requestReconciliation(transaction, deps.queue, orgAlias);
      return;
    }
    const now = deps.clock();
    if (await confirmLive(transaction, orgAlias, appSlug, now)) {
      await deriveInstallation(transaction, deps.queue, orgAlias, appSlug, now);
    }
  });
}

/** Does the same for all organisations, in one transaction each: after a crash, the next run confirms the remaining ones. */
export async function confirmForAll(deps: ConfirmDeps, appSlug: string, stopped: AbortSignal): Promise<void> {
  for await (const orgAlias of eachOrganisation(findUnconfirmedOrganisations, deps.database, appSlug, stopped)) {
    await confirmFor(deps, orgAlias, appSlug);
  }
}

/**
 * Quarantines subscriptions to an app that the catalog doesn't have, unless the marketplace listed them before. If reconciliation is
 * configured, the marketplace's list then decides whether they exist.
 */
export async function quarantineForAll(deps: ConfirmDeps, appSlug: string, stopped: AbortSignal): Promise<void> {
  const { database, queue, clock, logger, reconciles } = deps;
  for await (const orgAlias of eachOrganisation(findUnlistedOrganisations, database, appSlug, stopped)) {
    logger.warn(
      { orgAlias, appSlug },
      "quarantined a subscription to an app that the marketplace's catalog doesn't have",
    );
    await withOrganisationLock(deps, orgAlias, async (transaction) => {
      if (await unconfirmUnlisted(transaction, orgAlias, appSlug)) {
        await deriveInstallation(transaction, queue, orgAlias, appSlug, clock());
      }
      if (!reconciles) return;
      const startAfter = await secondsUntilQuarantineCheck(transaction, orgAlias, clock());
      await requestReconciliation(transaction, queue, orgAlias, { because: "quarantine", startAfter });
    });
  }
}
