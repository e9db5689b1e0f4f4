import type { RequestContext } from "../access/request-context.ts";
import { recordLaunchInSandbox } from "../listings/record-sandbox-launch.ts";
import { requireSandboxSubscription } from "../subscriptions/read-subscriptions.ts";
import type { SandboxDeps } from "./install-draft.ts";
import { findListingOf } from "./sandbox-store.ts";

/** An EHR says that it has launched a sandbox app. The check of the listing then no longer asks for it. */
export async function reportLaunch(
  { database, clock }: Pick<SandboxDeps, "database" | "clock">,
  by: RequestContext,
  subscriptionId: string,
): Promise<void> {
  const { appId, orgAlias, role } = await requireSandboxSubscription(database, by.caller, subscriptionId);
  const listingId = await findListingOf(database, appId);
  if (listingId === null) throw new Error("a sandbox app has no listing");
  await recordLaunchInSandbox({ database, clock }, by, { listingId, orgAlias, role });
}
