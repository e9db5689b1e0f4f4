import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { holdingOrganisation, secondsUntilQuarantineCheck } from "../organisations/hold-organisation.ts";
import { requestReconciliation } from "../reconciliation/request-reconciliation.ts";
import { deriveInstallation } from "./apply-state.ts";
import { confirmLive, findUnconfirmedOrganisations } from "./subscription-store.ts";

export interface ConfirmDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  /** Whether the marketplace's list of subscriptions can be requested. */
  reconciles: boolean;
}

const pageSize = 100;

async function* organisationsAwaiting(
  database: Kysely<DB>,
  appSlug: string,
  stopped: AbortSignal,
): AsyncGenerator<string> {
  for (let last = ""; ; ) {
    const aliases = await findUnconfirmedOrganisations(database, appSlug, last, pageSize);
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
  for await (const orgAlias of organisationsAwaiting(deps.database, appSlug, stopped)) {
    await confirmFor(deps, orgAlias, appSlug);
  }
}

/**
 * What to do about subscriptions to an app that the catalog doesn't have: the marketplace's list decides whether they exist. Without it, or
 * where it lacks them too, they stay quarantined.
 */
export async function quarantineForAll(deps: ConfirmDeps, appSlug: string, stopped: AbortSignal): Promise<void> {
  const { database, queue, clock, logger, reconciles } = deps;
  for await (const orgAlias of organisationsAwaiting(database, appSlug, stopped)) {
    logger.warn(
      { orgAlias, appSlug },
      "quarantined a subscription to an app that the marketplace's catalog doesn't have",
    );
    if (!reconciles) continue;
    await holdingOrganisation(deps, orgAlias, async (transaction) => {
      const startAfter = await secondsUntilQuarantineCheck(transaction, orgAlias, clock());
      await requestReconciliation(transaction, queue, orgAlias, { because: "quarantine", startAfter });
    });
  }
}
