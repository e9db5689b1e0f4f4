import type { ConsumeLaunchBody, LaunchContextDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { hashOf } from "./launch.ts";
import type { Launching } from "./launch-app.ts";
import { takeContext } from "./launch-context-store.ts";
import { launchProblems } from "./launch-errors.ts";

/** Once. Why it can't be redeemed is nobody's business: whoever guesses is to learn nothing. */
export async function redeemLaunch(
  { database, clock, metrics }: Pick<Launching, "database" | "clock" | "metrics">,
  { launch, orgAlias, appSlug, user }: ConsumeLaunchBody,
): Promise<LaunchContextDto> {
  const taken = { launchHash: hashOf(launch), orgAlias, appSlug, user, now: clock() };
  const context = await takeContext(database.prepared, taken);
  metrics.redeemed(context === undefined ? "refused" : "redeemed");
  if (context === undefined) {
    throw new Problem(
      launchProblems.gone,
      "The launch can't be redeemed: it is unknown, was used, has expired, or belongs to somebody or something else.",
    );
  }
  return { patient: context.patient_id, encounter: context.encounter_id, orgAlias, appSlug, user };
}
