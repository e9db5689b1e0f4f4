import type { MarketplaceEpoch } from "@ehr-marketplace/contracts";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { advanceEpoch, insertFirstEpoch, type NumberedEpoch, replaceEpoch, selectEpoch } from "./epoch-store.ts";

export const findEpoch = (database: Kysely<DB>): Promise<NumberedEpoch | undefined> => selectEpoch(database);

/** Whether the marketplace's database still has what it had at the earlier response. */
export function isContinued(earlier: MarketplaceEpoch, later: MarketplaceEpoch): boolean {
  const { system, timeline, position } = later;
  return system === earlier.system && timeline === earlier.timeline && position >= earlier.position;
}

/**
 * Stores the epoch of a list's pages, in the order in which they were read, and returns the number of the list's epoch: the last one, if the
 * marketplace gives none; undefined if it never gave one. `seen` was read before the first page was requested: every position that was stored by then is at most the list's,
 * so processes that read lists concurrently mistake no position for a lower one. If another process has found another epoch meanwhile, the
 * list counts as one of that.
 */
export async function noteEpoch(
  { database, clock, logger }: { database: Kysely<DB>; clock: () => Date; logger: Logger },
  seen: NumberedEpoch | undefined,
  pages: MarketplaceEpoch[],
): Promise<number | undefined> {
  const last = pages.at(-1);
  if (last === undefined) return seen?.number;
  if (seen === undefined) {
    await insertFirstEpoch(database, last, clock());
  } else if (pages.every((page, nth) => isContinued(pages[nth - 1] ?? seen, page))) {
    if (await advanceEpoch(database, seen.number, last.position)) return seen.number;
  } else if (await replaceEpoch(database, seen.number, last, clock())) {
    logger.warn(
      { epoch: seen.number + 1 },
      "found another state of the marketplace's database: it was restored, or another server took over; withholding what would end a cancellation or a pause for security",
    );
    return seen.number + 1;
  }
  return (await selectEpoch(database))?.number;
}
