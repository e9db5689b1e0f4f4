import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { MediaStorage } from "./media-storage.ts";
import { deleteMarked, deleteUnstoredUploads, findMarked, markForDeletion, updateUse } from "./media-store.ts";

const dayMs = 86_400_000;
const keptUnusedDays = 30;
/** An upload takes seconds. What is older was begun by a process that died. */
const unfinishedUploadDays = 1;
const firstId = "00000000-0000-0000-0000-000000000000";

export interface DeleteMediaDeps {
  database: Kysely<DB>;
  storage: MediaStorage;
  logger: Logger;
  stopped: AbortSignal;
}

/**
 * Deletes media that nothing has used for 30 days. A row is marked, then its object is deleted, then the row: wherever the process dies,
 * the next run continues.
 */
export async function deleteUnusedMedia(deps: DeleteMediaDeps, now: Date): Promise<{ deleted: number }> {
  const { database, stopped } = deps;
  const batches: BatchOptions = { batchSize: 200, maxBatches: Infinity, stopped };
  const before = (days: number): Date => new Date(now.getTime() - days * dayMs);

  let after = firstId;
  await runInBatches(async (limit) => {
    const { rows, last } = await updateUse(database, { after, limit, now });
    after = last ?? after;
    return rows;
  }, batches);

  const marks = { unusedSince: before(keptUnusedDays), begunBefore: before(unfinishedUploadDays), now };
  await runInBatches((limit) => markForDeletion(database, { ...marks, limit }), batches);
  await deleteUnstoredUploads(database, before(2));
  return { deleted: await deleteMarkedMedia(deps, batches) };
}

async function deleteMarkedMedia(
  { database, storage, logger, stopped }: DeleteMediaDeps,
  batches: BatchOptions,
): Promise<number> {
  let after = firstId;
  let deleted = 0;
  await runInBatches(async (limit) => {
    const rows = await findMarked(database, { after, limit });
    for (const { id, object_key } of rows) {
      if (stopped.aborted) break;
      after = id;
      try {
        await storage.delete(object_key);
      } catch (error) {
        logger.warn({ err: error, mediaId: id }, "failed to delete an object of media; retrying at the next run");
        continue;
      }
      await deleteMarked(database, id);
      deleted += 1;
    }
    return rows.length;
  }, batches);
  return deleted;
}
