import { runReencryption } from "@ehr-marketplace/service-kit/secrets";
import type { DB } from "./database-schema.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { reencryptEndpoints } from "./endpoints/reencrypt-endpoints.ts";
import { reencryptReviewNotes } from "./listings/reencrypt-review-notes.ts";
import { reencryptSecrets } from "./organisations/reencrypt-secrets.ts";
import { reencryptRevisionNotes } from "./reviews/reencrypt-revision-notes.ts";

await runReencryption<DB>("marketplace-reencrypt", encryptedColumns, [
  reencryptSecrets,
  reencryptEndpoints,
  reencryptReviewNotes,
  reencryptRevisionNotes,
]);
