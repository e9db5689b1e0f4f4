import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { findStaleApps } from "./app-store.ts";

/** A little less than the hour between two runs. */
const freshMs = 50 * 60_000;
/** Apps that don't exist, named by forged events, must not delay those that do. */
const absentForMs = 86_400_000;
const spreadSeconds = 30 * 60;
const pageSize = 1_000;

/**
 * Requests a fetch of every installed app, spread over half an hour, and an immediate fetch of apps with unconfirmed subscriptions. An app
 * that isn't installed anywhere and that the catalog doesn't have is fetched once a day.
 */
export async function refreshApps(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  random: () => number = Math.random,
): Promise<void> {
  const boss = queue.boss();
  const now = clock().getTime();
  const stale = { before: new Date(now - freshMs), absentBefore: new Date(now - absentForMs) };
  let after = "";
  for (;;) {
    const page = await findStaleApps(database, stale, after, pageSize);
    const jobs = page.map(({ slug, isAwaited }) => ({
      data: { slug },
      singletonKey: slug,
      startAfter: isAwaited ? 0 : Math.floor(random() * spreadSeconds),
    }));
    if (jobs.length > 0) await boss.insert(appFetches, jobs, { returnId: false });
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.slug;
  }
}
