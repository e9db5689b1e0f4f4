import type { Kysely } from "kysely";
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
  const found = {
    url,
    requested_at: requestedAt,
    hooks: "hooks" in result ? result.hooks : null,
    failure: "failure" in result ? result.failure : null,
  };
  await database
    .insertInto("cds_discoveries")
    .values({ app_id: appId, ...found })
    .onConflict((conflict) =>
      conflict
        .column("app_id")
        .doUpdateSet(found)
        .whereRef("cds_discoveries.requested_at", "<=", "excluded.requested_at"),
    )
    .execute();
}
