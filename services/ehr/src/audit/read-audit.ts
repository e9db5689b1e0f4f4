import type { AuditPage, EhrAuditQuery } from "@ehr-marketplace/contracts";
import { listPage, parseQueryTime } from "@ehr-marketplace/service-kit/http";
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
  const [from, to] = [parseQueryTime("from", query.from), parseQueryTime("to", query.to)];
  const oldestDay = await findOldestDay(database);
  const oldest = from !== undefined && from > oldestDay ? from : oldestDay;
  const filter = { onBehalfOf: query.orgAlias, actor: query.actor, action: query.action };
  return listPage(query, {
    find: (slice) => {
      // The next entry may have the same time as the cursor's entry.
      const cursor = slice.after === undefined ? undefined : new Date(Date.parse(slice.after.at) + 1);
      return readNewestFirst(
        { now: clock(), before: earlier(to, cursor), oldest, limit: slice.limit },
        (range, limit) => findEntries(database, filter, range, { ...slice, limit }),
      );
    },
    getTime: (entry) => new Date(entry.at),
    toItem: (entry) => entry,
  });
}
