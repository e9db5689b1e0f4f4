import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import { requestClientJob } from "../clients/request-client-job.ts";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { findApp, markAbsent, markUnchanged, replaceApp } from "./app-store.ts";
import type { MarketplaceCatalog } from "./marketplace-catalog.ts";
import { type AppFetch, secondsUntilRecheck } from "./request-app-fetch.ts";

export interface FetchDeps {
  database: Kysely<DB>;
  queue: Queue;
  catalog: MarketplaceCatalog;
  clock: () => Date;
  logger: Logger;
}

export type FetchResult = "found" | "absent";

const batchSize = 10;

/** Runs the jobs that fetch apps. A failed fetch is retried at growing intervals; the stored app stays meanwhile. */
export async function workAppFetches(
  boss: PgBoss,
  fetch: (slug: string, since: Date | undefined) => Promise<unknown>,
): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<AppFetch, JobResult[], typeof options>(appFetches, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data: { slug, since } }): Promise<JobResult> => {
        // `fetch` logs the error.
        const status = await fetch(slug, since === undefined ? undefined : new Date(since)).then(
          () => "completed" as const,
          () => "failed" as const,
        );
        return { id, status };
      }),
    ),
  );
}

/**
 * Fetches an app from the catalog and stores it. Within a minute of the last response, that response is the result; with `since`, only if it
 * was requested then or later.
 */
export async function fetchApp(
  { database, queue, catalog, clock, logger }: FetchDeps,
  slug: string,
  { since, signal }: { since?: Date | undefined; signal?: AbortSignal | undefined } = {},
): Promise<FetchResult> {
  const known = await findApp(database, slug);
  // Only apps that subscriptions refer to have a row.
  if (known === undefined) return "absent";
  const requestedAt = clock();
  const isRecent = since === undefined ? secondsUntilRecheck(known, requestedAt) > 0 : isSince(known.fetchedAt, since);
  if (isRecent) return known.isInCatalog ? "found" : "absent";
  const response = await catalog.fetchApp(slug, known.etag, { bypassesCaches: since !== undefined, signal });
  if (response.kind === "absent") {
    // An app that is no longer published stays installed, with the fields that were last stored.
    logger.info({ appSlug: slug }, "app not found in the marketplace's catalog");
    await markAbsent(database, slug, requestedAt);
    return "absent";
  }
  if (response.kind === "unchanged") {
    await markUnchanged(database, slug, requestedAt);
    return "found";
  }
  await database.transaction().execute(async (transaction) => {
    await replaceApp(transaction, response.found, requestedAt);
    // How it signs in may have changed, too: authorization servers may refuse scopes that aren't registered.
    if (known.hasFacts) await requestClientJob(transaction, queue, { refresh: slug, isChanged: true });
  });
  return "found";
}

const isSince = (fetchedAt: Date | null, since: Date): boolean => fetchedAt !== null && fetchedAt >= since;
