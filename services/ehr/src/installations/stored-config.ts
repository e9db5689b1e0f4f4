import { type JsonObject, secretsIn } from "@ehr-marketplace/config-schema";
import type { DecryptionError, Encryption } from "@ehr-marketplace/service-kit/secrets";

/** The row that an encrypted configuration is bound to. */
export const configOwner = (installationId: string): string => `installations/${installationId}/config`;

interface EncryptedRow {
  id: string;
  encrypted_config: string | null;
}

export function decryptConfig(encryption: Encryption, row: EncryptedRow): JsonObject {
  if (row.encrypted_config === null) return {};
  return JSON.parse(encryption.decrypt(row.encrypted_config, configOwner(row.id))) as JsonObject;
}

/** Returns {} on a decryption error: it must neither fail the list of all installations nor prevent a new configuration. */
export function tryDecryptConfig(
  encryption: Encryption,
  row: EncryptedRow,
  onError?: (error: DecryptionError) => void,
): JsonObject {
  const decrypted =
    row.encrypted_config === null
      ? undefined
      : encryption.decryptIfPossible(row.encrypted_config, configOwner(row.id), onError);
  return decrypted === undefined ? {} : (JSON.parse(decrypted) as JsonObject);
}

interface SecretsRow {
  /** Pointers to the values that the app's current schema marks as secret. */
  config_secrets: string | null;
  /** Pointers to values that were secret when they were stored. */
  earlier_secrets: string | null;
}

const parsePointers = (pointers: string | null): string[] =>
  pointers === null ? [] : (JSON.parse(pointers) as string[]);

/** A value that was stored as a secret stays secret, whatever a later schema says. */
export const secretsOf = ({ config_secrets, earlier_secrets }: SecretsRow): string[] => [
  ...parsePointers(config_secrets),
  ...parsePointers(earlier_secrets),
];

/** The secrets to store with a configuration: those of the current schema, and earlier secrets that null has kept. */
export function secretsToStore({ config_secrets }: SecretsRow, config: JsonObject, kept: string[]): string | null {
  const secrets = new Set([...secretsIn(config, parsePointers(config_secrets)), ...kept]);
  return secrets.size === 0 ? null : JSON.stringify([...secrets]);
}
