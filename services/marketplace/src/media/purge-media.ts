import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudits } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { mediaProblems } from "./media-errors.ts";
import type { MediaStorage } from "./media-storage.ts";
import { deleteMarked, lockUploads } from "./media-store.ts";
import { type Content, findPurgeable, findPurgedObjects, isPurged, markPurged } from "./purge-store.ts";
import { mediaNotFound, storageUnavailable } from "./read-media.ts";
import { sandboxIconPath } from "./sandbox-icon.ts";

export interface PurgeDeps {
  database: Kysely<DB>;
  storage: MediaStorage;
  clock: () => Date;
  publicUrl: string;
}

/** More copies are left to the daily job. None of them is served. */
const maxObjectsDeletedAtOnce = 100;

/**
 * Purges a file: what has the same content, in whatever listing of its vendor, is gone for everybody, and the vendor can't upload it again.
 * Repeating it changes nothing, but deletes objects that couldn't be deleted.
 */
export async function purgeMedia(
  { database, storage, clock, publicUrl }: PurgeDeps,
  by: RequestContext,
  id: string,
): Promise<void> {
  const content = await database.transaction().execute(async (transaction) => {
    const row = await findPurgeable(transaction, id);
    if (row === undefined) throw mediaNotFound();
    const found: Content = { vendorId: row.vendor_id, sha256: row.sha256, sourceSha256: row.source_sha256 };
    if (row.purged_at !== null) return found;
    // Otherwise an upload that isn't committed yet would escape.
    await lockUploads(transaction, row.vendor_id);
    const at = clock();
    const files = await markPurged(transaction, found, { at, iconUrl: `${publicUrl}${sandboxIconPath}` });
    await recordAudits(
      transaction,
      files.map((file) => ({
        by,
        role: "operator",
        at,
        onBehalfOf: `vendor:${file.vendor}`,
        action: "media.purge",
        target: { kind: "listing", id: file.slug },
        before: { id: file.id, isPublic: file.was_public, sha256: row.sha256 },
        after: { id: file.id, purged: id },
      })),
    );
    return found;
  });
  for (const object of await findPurgedObjects(database, content, maxObjectsDeletedAtOnce)) {
    await storage.delete(object.object_key).catch((error: unknown) => {
      throw storageUnavailable(error);
    });
    await deleteMarked(database, object.id);
  }
}

/** What an operator has purged doesn't come back from the same vendor. */
export async function refusePurged(database: Kysely<DB>, content: Content): Promise<void> {
  if (!(await isPurged(database, content))) return;
  const detail = "An operator of the marketplace has removed this file. Use another one, or contact the operator.";
  throw new Problem(mediaProblems.unusableFile, detail);
}
