import { runDueStatements } from "@ehr-marketplace/marketplace/run-statements";
import { withDatabase } from "../catalog/with-database.ts";

/** Closes the months that are over, as a worker would within the first minutes after it has started. Does nothing if they are. */
export async function closePastMonths(ownerUrl: string): Promise<void> {
  await withDatabase(ownerUrl, async (database, { logger }) => {
    const { signal: stopped } = new AbortController();
    await runDueStatements({ database, clock: () => new Date(), logger, stopped }, { pauseAfter: () => 0 });
  });
}
