import type { AuditPage, EhrAuditQuery } from "@ehr-marketplace/contracts";
import { pageOf, timeInQuery } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { readNewestFirst } from "../partitioned-log.ts";
import { findEntries, findOldestDay } from "./audit-store.ts";

const earlier = (one: Date | undefined, other: Date | undefined): Date | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one;

export async function readAudit(
  { database, clock }: { database: Kysely<DB>; clock: () => Date },
  query: EhrAuditQuery,
): Promise<AuditPage> {
  const [from, to] = [timeInQuery("from", query.from), timeInQuery("to", query.to)];
  const oldestDay = await findOldestDay(database);
  const oldest = from !== undefined && from > oldestDay ? from : oldestDay;
  const filter = { onBehalfOf: query.orgAlias, actor: query.actor, action: query.action };
  return pageOf(query, {
    find: (slice) => {
      // The entry that the cursor names may have the same time as the next one.
      const cursor = slice.after === undefined ? undefined : new Date(Date.parse(slice.after.at) + 1);
      return readNewestFirst(
        { now: clock(), before: earlier(to, cursor), oldest, limit: slice.limit },
        (range, limit) => findEntries(database, filter, range, { ...slice, limit }),
      );
    },
    timeOf: (entry) => new Date(entry.at),
    itemOf: (entry) => entry,
  });
}
