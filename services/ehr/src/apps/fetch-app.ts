import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { findApp, noteAbsent, noteUnchanged, replaceApp } from "./app-store.ts";
import type { MarketplaceCatalog } from "./marketplace-catalog.ts";
import { secondsUntilRecheck } from "./request-app-fetch.ts";

export interface FetchDeps {
  database: Kysely<DB>;
  catalog: MarketplaceCatalog;
  clock: () => Date;
  logger: Logger;
}

export type FetchResult = "found" | "absent";

const batchSize = 10;

/** Fetches apps as jobs request them. A failed fetch is retried at growing intervals; what is known stays meanwhile. */
export async function workAppFetches(boss: PgBoss, fetch: (slug: string) => Promise<unknown>): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true, pollingIntervalSeconds: 1 } as const;
  await boss.work<{ slug: string }, JobResult[], typeof options>(appFetches, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data: { slug } }): Promise<JobResult> => {
        // Why it failed is logged where it did.
        const status = await fetch(slug).then(
          () => "completed" as const,
          () => "failed" as const,
        );
        return { id, status };
      }),
    ),
  );
}

/** Stores what the catalog says of an app. Within a minute of the last response, that response is the result. */
export async function fetchApp(
  { database, catalog, clock, logger }: FetchDeps,
  slug: string,
  signal?: AbortSignal,
): Promise<FetchResult> {
  const known = await findApp(database, slug);
  // Only an app that something refers to has a row.
  if (known === undefined) return "absent";
  if (secondsUntilRecheck(known, clock()) > 0) return known.isInCatalog ? "found" : "absent";
  const response = await catalog.fetchApp(slug, known.etag, signal);
  if (response.kind === "absent") {
    // An app that is not published any more keeps running where it is installed, as it was last known.
    logger.info({ appSlug: slug }, "the marketplace's catalog has no such app");
    await noteAbsent(database, slug, clock());
    return "absent";
  }
  if (response.kind === "found") await replaceApp(database, response.found, clock());
  else await noteUnchanged(database, slug, clock());
  return "found";
}
