import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { withAgreedScopes } from "./agreed-scopes.ts";
import { findLiveWithScopes } from "./pending-scopes-store.ts";
import type { BatchCursor } from "./subscription-store.ts";

export interface PendingScopes {
  id: string;
  organisationId: string;
  orgAlias: string;
  appName: string;
}

/** Of the app's next live subscriptions, newest first, those with scopes that nobody has agreed to. Without a cursor there are no more. */
export async function findPendingScopes(
  database: Kysely<DB>,
  appId: string,
  page: { after: BatchCursor | undefined; limit: number },
): Promise<{ pending: PendingScopes[]; cursor: BatchCursor | undefined }> {
  const rows = await findLiveWithScopes(database, appId, page);
  const compared = await withAgreedScopes(rows);
  return {
    pending: compared
      .filter(({ scopes }) => scopes.missing !== "")
      .map((row) => ({
        id: row.id,
        organisationId: row.organisation_id,
        orgAlias: row.org_alias,
        appName: row.app_name,
      })),
    cursor: rows.length < page.limit ? undefined : rows.at(-1),
  };
}
