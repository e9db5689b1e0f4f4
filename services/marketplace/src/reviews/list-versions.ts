import type { AppVersionPage } from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { parseRevisionCursor } from "./read-revisions.ts";
import { findVersions } from "./revision-store.ts";

/** The revisions of a published app that were approved, newest first, with what the public may know of each. */
export async function listVersions(
  database: Kysely<DB>,
  appId: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<AppVersionPage> {
  const before = parseRevisionCursor(after);
  const found = await findVersions(database, appId, { before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    items: rows.map((row) => ({
      version: row.version,
      releaseNotes: row.release_notes,
      publishedAt: row.published_at.toISOString(),
    })),
    next: found.length > limit && last !== undefined ? encodeCursor(String(last.number)) : null,
  };
}
