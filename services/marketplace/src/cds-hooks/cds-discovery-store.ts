import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { DiscoveredHooks } from "./parse-discovery.ts";

export interface DiscoveryRow {
  url: string;
  requested_at: Date;
  hooks: string[] | null;
  failure: string | null;
}

export function findDiscovery(database: Kysely<DB>, appId: string): Promise<DiscoveryRow | undefined> {
  return database
    .selectFrom("cds_discoveries")
    .select(["url", "requested_at", "hooks", "failure"])
    .where("app_id", "=", appId)
    .executeTakeFirst();
}

/** A result never replaces one that was requested later: a slow server may respond to two requests in another order. */
export async function upsertDiscovery(
  database: Kysely<DB>,
  { appId, url, requestedAt, result }: { appId: string; url: string; requestedAt: Date; result: DiscoveredHooks },
): Promise<void> {
  const hooks = "hooks" in result ? result.hooks : null;
  const failure = "failure" in result ? result.failure : null;
  // The draft may have been deleted while the server responded.
  await sql`
    insert into cds_discoveries as stored (app_id, url, requested_at, hooks, failure)
    select app_id, ${url}, ${requestedAt}::timestamptz, ${hooks}::text[], ${failure}::text
    from listings where app_id = ${appId} for key share
    on conflict (app_id) do update set
      url = excluded.url, requested_at = excluded.requested_at, hooks = excluded.hooks, failure = excluded.failure
    where stored.requested_at <= excluded.requested_at`.execute(database);
}
