import type { ConsumeLaunchBody, LaunchContextDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { v7 as uuid } from "uuid";
import { prepareAuditPartitions } from "../audit/audit-log-retention.ts";
import type { Actor } from "../audit/record-audit.ts";
import { isMissingPartitionError } from "../partitioned-log.ts";
import { hashLaunch } from "./launch.ts";
import type { LaunchDeps } from "./launch-app.ts";
import { redeemContext } from "./launch-context-store.ts";
import { launchProblems } from "./launch-errors.ts";

/** Redeems a launch once. The response doesn't tell why a launch can't be redeemed, so that guessing reveals nothing. */
export async function redeemLaunch(
  { database, clock, metrics }: Pick<LaunchDeps, "database" | "clock" | "metrics">,
  actor: Actor,
  { launch, orgAlias, appSlug, user }: ConsumeLaunchBody,
): Promise<LaunchContextDto> {
  const redemption = { launchHash: hashLaunch(launch), orgAlias, appSlug, user, now: clock(), auditId: uuid(), actor };
  const redeem = () => redeemContext(database.query, redemption);
  const context = await redeem().catch(async (error: unknown) => {
    // The partition is missing after a week without a running process. The failed statement deleted nothing, so retry it.
    if (!isMissingPartitionError(error)) throw error;
    await prepareAuditPartitions(database.query, redemption.now);
    return redeem();
  });
  metrics.redeemed(context === undefined ? "refused" : "redeemed");
  if (context === undefined) {
    throw new Problem(
      launchProblems.gone,
      "The launch can't be redeemed: it is unknown, used, expired, or belongs to another user, app or organisation.",
    );
  }
  return { patient: context.patient_id, encounter: context.encounter_id, orgAlias, appSlug, user };
}
