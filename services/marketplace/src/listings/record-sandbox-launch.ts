import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { recordSandboxLaunch } from "./listing-store.ts";

/** A sandbox may be launched all day: one write an hour is enough. */
const minMsBetweenRecords = 3_600_000;

/** Records that an EHR has launched the draft of a listing. The listing's version stays: its vendor has changed nothing. */
export function recordLaunchInSandbox(
  { database, clock }: { database: Kysely<DB>; clock: () => Date },
  by: RequestContext,
  { listingId, orgAlias, role }: { listingId: string; orgAlias: string; role: Role },
): Promise<void> {
  const at = clock();
  return database.transaction().execute(async (transaction) => {
    const before = new Date(at.getTime() - minMsBetweenRecords);
    const listing = await recordSandboxLaunch(transaction, listingId, { at, before });
    if (listing === undefined) return;
    await recordAudit(transaction, {
      by,
      role,
      at,
      onBehalfOf: orgAlias,
      action: "listing.sandbox-launch",
      target: { kind: "listing", id: listing.slug },
      before: null,
      after: { vendor: listing.vendor },
    });
  });
}
