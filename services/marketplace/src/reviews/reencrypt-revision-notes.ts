import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { revisionNotesOwner } from "./read-revisions.ts";
import { lockRevisionNotesToReencrypt, updateRevisionNotes } from "./revision-store.ts";

/** Re-encrypts the notes of submitted revisions with the current version of the key. */
export function reencryptRevisionNotes(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockRevisionNotesToReencrypt(transaction, currentVersion, limit);
    for (const { id, encrypted_review_notes: notes } of rows) {
      await updateRevisionNotes(transaction, id, encryption.reencrypt(notes, revisionNotesOwner(id)));
    }
    return rows.length;
  });
}
