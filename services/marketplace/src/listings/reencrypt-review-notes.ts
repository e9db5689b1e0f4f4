import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockNotesToReencrypt, updateReviewNotes } from "./listing-store.ts";
import { reviewNotesOwner } from "./read-listings.ts";

/** Re-encrypts the notes for reviewers with the current version of the key. */
export function reencryptReviewNotes(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockNotesToReencrypt(transaction, currentVersion, limit);
    for (const { app_id, encrypted_review_notes: notes } of rows) {
      await updateReviewNotes(transaction, app_id, encryption.reencrypt(notes, reviewNotesOwner(app_id)));
    }
    return rows.length;
  });
}
