import { type JsonObject, secretsIn } from "@ehr-marketplace/config-schema";
import type { Seal, SealBrokenError } from "@ehr-marketplace/service-kit/secrets";
import { configOwner } from "./installation.ts";

interface SealedRow {
  id: string;
  sealed_config: string | null;
}

export function openConfig(seal: Seal, row: SealedRow): JsonObject {
  if (row.sealed_config === null) return {};
  return JSON.parse(seal.open(row.sealed_config, configOwner(row.id))) as JsonObject;
}

/** One that can't be opened must not take all others with it, nor stand in the way of a new one. */
export function openIfPossible(seal: Seal, row: SealedRow, onBroken?: (error: SealBrokenError) => void): JsonObject {
  const opened =
    row.sealed_config === null ? undefined : seal.openIfPossible(row.sealed_config, configOwner(row.id), onBroken);
  return opened === undefined ? {} : (JSON.parse(opened) as JsonObject);
}

interface SecretsRow {
  /** Pointers that the app's schema marks now. */
  config_secrets: string | null;
  /** Pointers to values that were secret when they were stored. */
  earlier_secrets: string | null;
}

const parsed = (pointers: string | null): string[] => (pointers === null ? [] : (JSON.parse(pointers) as string[]));

/** A later schema reveals nothing that was stored as a secret. */
export const secretsOf = ({ config_secrets, earlier_secrets }: SecretsRow): string[] => [
  ...parsed(config_secrets),
  ...parsed(earlier_secrets),
];

/** Stored with a configuration: what is secret in it now, and what was before and has been kept by null. */
export function secretsToStore({ config_secrets }: SecretsRow, config: JsonObject, kept: string[]): string | null {
  const secrets = new Set([...secretsIn(config, parsed(config_secrets)), ...kept]);
  return secrets.size === 0 ? null : JSON.stringify([...secrets]);
}
