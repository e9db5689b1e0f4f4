import type { ConsumeLaunchBody, LaunchContextDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { v7 as uuid } from "uuid";
import { prepareAuditPartitions } from "../audit/audit-log-retention.ts";
import type { Actor } from "../audit/record-audit.ts";
import { isWithoutPartition } from "../partitioned-log.ts";
import { hashOf } from "./launch.ts";
import type { Launching } from "./launch-app.ts";
import { redeemContext } from "./launch-context-store.ts";
import { launchProblems } from "./launch-errors.ts";

/** Once. Why it can't be redeemed is nobody's business: whoever guesses is to learn nothing. */
export async function redeemLaunch(
  { database, clock, metrics }: Pick<Launching, "database" | "clock" | "metrics">,
  actor: Actor,
  { launch, orgAlias, appSlug, user }: ConsumeLaunchBody,
): Promise<LaunchContextDto> {
  const redemption = { launchHash: hashOf(launch), orgAlias, appSlug, user, now: clock(), auditId: uuid(), actor };
  const redeem = () => redeemContext(database.prepared, redemption);
  const context = await redeem().catch(async (error: unknown) => {
    // No process has run for a week. The statement has deleted nothing, and a clinician waits.
    if (!isWithoutPartition(error)) throw error;
    await prepareAuditPartitions(database.query, redemption.now);
    return redeem();
  });
  metrics.redeemed(context === undefined ? "refused" : "redeemed");
  if (context === undefined) {
    throw new Problem(
      launchProblems.gone,
      "The launch can't be redeemed: it is unknown, was used, has expired, or belongs to somebody or something else.",
    );
  }
  return { patient: context.patient_id, encounter: context.encounter_id, orgAlias, appSlug, user };
}
