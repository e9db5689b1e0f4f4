import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { findEtag, noteFetched, replaceApp } from "./app-store.ts";
import type { MarketplaceCatalog } from "./marketplace-catalog.ts";

export interface Fetching {
  database: Kysely<DB>;
  catalog: MarketplaceCatalog;
  clock: () => Date;
  logger: Logger;
}

const atOnce = 10;

/** Reads apps as they are asked for. What fails is tried again, ever more rarely; what is known stays meanwhile. */
export async function workAppFetches(boss: PgBoss, fetching: Fetching): Promise<void> {
  const options = {
    batchSize: atOnce,
    burstWhenBatchFull: true,
    perJobResults: true,
    pollingIntervalSeconds: 1,
  } as const;
  await boss.work<{ slug: string }, JobResult[], typeof options>(appFetches, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data: { slug } }): Promise<JobResult> => {
        try {
          await fetchApp(fetching, slug);
          return { id, status: "completed" };
        } catch (error) {
          fetching.logger.warn({ err: error, appSlug: slug }, "an app can't be read from the marketplace now");
          return { id, status: "failed" };
        }
      }),
    ),
  );
}

export async function fetchApp({ database, catalog, clock, logger }: Fetching, slug: string): Promise<void> {
  const known = await findEtag(database, slug);
  if (known === undefined) return;
  const answer = await catalog.fetchApp(slug, known.etag);
  if (answer.kind === "found") {
    await replaceApp(database, answer.found, clock());
    return;
  }
  // An app that is published no more keeps running where it is installed, as it was last known.
  if (answer.kind === "absent") logger.info({ appSlug: slug }, "the marketplace has no such app");
  await noteFetched(database, slug, clock());
}
