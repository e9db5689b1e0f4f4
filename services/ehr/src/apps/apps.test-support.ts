import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type CleanUp } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import { requestAppFetch } from "./request-app-fetch.ts";

export interface FetchJob {
  slug: string;
  state: string;
  retries: number;
  inSeconds: number;
}

export interface Workbench {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  requestFetch(slug: string): Promise<void>;
  /** Jobs that are queued or running. */
  jobs(): Promise<FetchJob[]>;
}

/** Connects to the database and the queue with the service's role, without workers. */
export async function workbench(cleanUp: CleanUp, url: string): Promise<Workbench> {
  const { database, queue, clock } = await connectAsService<DB>(cleanUp, url, {
    poolSize: 10,
    statementTimeoutMs: 5_000,
  });
  return {
    database,
    queue,
    clock,
    requestFetch: (slug) => database.transaction().execute((transaction) => requestAppFetch(transaction, queue, slug)),
    async jobs() {
      const { rows } = await sql<FetchJob>`
        select data->>'slug' as slug, state::text, retry_count as retries,
          greatest(0, round(extract(epoch from start_after - created_on)))::integer as "inSeconds"
        from pgboss.job where name = ${appFetches} and state < 'completed' order by 1`.execute(database);
      return rows;
    },
  };
}
