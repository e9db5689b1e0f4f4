import type { ConsumeLaunchBody, LaunchContextDto } from "@ehr-marketplace/contracts";
import { runInBatches } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { scopesInForce } from "../apps/scopes-in-force.ts";
import { prepareAuditPartitions } from "../audit/audit-log-retention.ts";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { isMissingPartitionError } from "../partitioned-log.ts";
import { hashLaunch } from "./launch.ts";
import type { LaunchDeps } from "./launch-app.ts";
import { deleteExpiredBatch, type TakenContext, takeContext } from "./launch-context-store.ts";
import { launchProblems } from "./launch-errors.ts";

/** Redeems a launch once. The response doesn't tell why a launch can't be redeemed, so that guessing reveals nothing. */
export async function redeemLaunch(
  { database, clock, metrics }: Pick<LaunchDeps, "database" | "clock" | "metrics">,
  actor: Actor,
  { launch, orgAlias, appSlug, user }: ConsumeLaunchBody,
): Promise<LaunchContextDto> {
  const now = clock();
  // The audit entry commits with the deletion of the context, whether the redemption is granted or refused.
  const redeem = (): Promise<TakenContext | undefined> =>
    database.query.transaction().execute(async (transaction) => {
      const taken = await takeContext(transaction, { launchHash: hashLaunch(launch), orgAlias, appSlug, user, now });
      await recordAudit(transaction, {
        actor,
        at: now,
        onBehalfOf: orgAlias,
        action: "launch-context.redeem",
        target: { kind: "app", id: appSlug },
        after: { outcome: taken?.isGranted === true ? "granted" : "refused", launchId: taken?.launchId ?? null },
      });
      return taken;
    });
  const taken = await redeem().catch(async (error: unknown) => {
    // The partition is missing after a week without a running process. The failed transaction deleted nothing, so retry it.
    if (!isMissingPartitionError(error)) throw error;
    await prepareAuditPartitions(database.query, now);
    return redeem();
  });
  metrics.recordRedemption(taken?.isGranted === true ? "redeemed" : "refused");
  if (taken?.isGranted !== true || taken.subscriptionId === null) {
    throw new Problem(
      launchProblems.gone,
      "The launch can't be redeemed: it is unknown, used, expired, or belongs to another user, app or organisation.",
    );
  }
  const { patientId: patient, encounterId: encounter, subscriptionId } = taken;
  // Only confirmed apps are installed, and they have scopes.
  const fhirScopes = scopesInForce({ fhir_scopes: taken.fhir_scopes ?? "", agreed_scopes: taken.agreed_scopes });
  return { patient, encounter, orgAlias, appSlug, user, fhirScopes, subscriptionId };
}

/** Deletes launch contexts that can't be redeemed any more, with their patient ids. Returns the number of deleted rows. */
export function deleteExpiredContexts(database: Kysely<DB>, now: Date): Promise<number> {
  return runInBatches((limit) => deleteExpiredBatch(database, now, limit));
}
