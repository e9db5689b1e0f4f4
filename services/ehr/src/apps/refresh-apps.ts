import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { findStaleApps } from "./app-store.ts";

/** A little less than the hour after which this comes round. */
const freshMs = 50 * 60_000;
const spreadSeconds = 30 * 60;
const pageSize = 1_000;

/** Asks for every installed app anew, spread over half an hour; at once for those whose schema was never read. */
export async function refreshApps(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  random: () => number = Math.random,
): Promise<void> {
  const boss = await queue.boss();
  const before = new Date(clock().getTime() - freshMs);
  let after = "";
  for (;;) {
    const stale = await findStaleApps(database, before, after, pageSize);
    const jobs = stale.map(({ slug, schema_known }) => ({
      data: { slug },
      singletonKey: slug,
      startAfter: schema_known ? Math.floor(random() * spreadSeconds) : 0,
    }));
    if (jobs.length > 0) await boss.insert(appFetches, jobs, { returnId: false });
    const last = stale.at(-1);
    if (last === undefined || stale.length < pageSize) return;
    after = last.slug;
  }
}
