import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findLiveWithScopes } from "./pending-scopes-store.ts";
import type { BatchCursor } from "./subscription-store.ts";

export interface LiveSubscription {
  id: string;
  organisationId: string;
  orgAlias: string;
  appName: string;
  isActive: boolean;
  /** Whether a suspension of the app has paused it. */
  isSuspended: boolean;
}

/** The app's next live subscriptions, newest first. Without a cursor there are no more. */
export async function findLiveSubscriptions(
  database: Kysely<DB>,
  appId: string,
  page: { after: BatchCursor | undefined; limit: number },
): Promise<{ live: LiveSubscription[]; cursor: BatchCursor | undefined }> {
  const rows = await findLiveWithScopes(database, appId, page);
  return {
    live: rows.map((row) => ({
      id: row.id,
      organisationId: row.organisation_id,
      orgAlias: row.org_alias,
      appName: row.app_name,
      isActive: row.status === "active",
      isSuspended: row.suspension_id !== null,
    })),
    cursor: rows.length < page.limit ? undefined : rows.at(-1),
  };
}
