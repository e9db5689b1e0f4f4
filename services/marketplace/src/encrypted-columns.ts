import type { EncryptedColumn } from "@ehr-marketplace/service-kit/secrets";
import { endpointSecretOwner, nextSecretOwner } from "./endpoints/endpoint.ts";
import { reviewNotesOwner } from "./listings/read-listings.ts";
import { secretOwner } from "./organisations/organisation.ts";
import { revisionNotesOwner } from "./reviews/read-revisions.ts";

/** All columns with secrets: re-encryption and the check at start decrypt them. */
export const encryptedColumns: EncryptedColumn[] = [
  { table: "organisations", key: "id", column: "encrypted_secret", ownerOf: secretOwner },
  { table: "webhook_endpoints", key: "id", column: "encrypted_secret", ownerOf: endpointSecretOwner },
  { table: "webhook_endpoints", key: "id", column: "encrypted_next_secret", ownerOf: nextSecretOwner },
  { table: "listings", key: "app_id", column: "encrypted_review_notes", ownerOf: reviewNotesOwner },
  { table: "revisions", key: "id", column: "encrypted_review_notes", ownerOf: revisionNotesOwner },
];
