import type { EncryptedColumn } from "@ehr-marketplace/service-kit/secrets";
import { registrationTokenOwner } from "./clients/stored-client.ts";
import { configOwner } from "./installations/stored-config.ts";
import { previousSecretOwner, secretOwner } from "./organisations/organisation.ts";

/** All columns with secrets: re-encryption and the check at start decrypt them. */
export const encryptedColumns: EncryptedColumn[] = [
  { table: "organisations", key: "alias", column: "encrypted_secret", ownerOf: secretOwner },
  { table: "organisations", key: "alias", column: "encrypted_previous_secret", ownerOf: previousSecretOwner },
  { table: "installations", key: "id", column: "encrypted_config", ownerOf: configOwner },
  { table: "clients", key: "id", column: "encrypted_registration_token", ownerOf: registrationTokenOwner },
];
