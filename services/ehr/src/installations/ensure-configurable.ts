import type { Kysely } from "kysely";
import type { LastFetch } from "../apps/request-app-fetch.ts";
import type { DB } from "../database-schema.ts";
import { findSchemaState } from "./installation-store.ts";

/** The part of `AppConfirmer` that is used here. Declared here because `../subscriptions` imports this feature. */
export interface OnDemandConfirmer {
  confirmOnDemand(orgAlias: string, appSlug: string): Promise<boolean>;
  fetchOnDemand(orgAlias: string, appSlug: string, last: LastFetch): Promise<unknown>;
}

/** Before a configuration is stored: confirms a new subscription, and fetches an installed app whose schema was never read. */
export async function ensureConfigurable(
  { database, confirmer }: { database: Kysely<DB>; confirmer: OnDemandConfirmer },
  orgAlias: string,
  appSlug: string,
): Promise<void> {
  const installed = await findSchemaState(database, orgAlias, appSlug);
  if (installed === undefined) await confirmer.confirmOnDemand(orgAlias, appSlug);
  else if (!installed.isSchemaKnown && installed.absentAt === null) {
    await confirmer.fetchOnDemand(orgAlias, appSlug, installed);
  }
}
