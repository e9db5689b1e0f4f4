import type { Seal, SealBrokenError } from "@ehr-marketplace/service-kit/secrets";
import type { ConfigSecrets } from "../apps/config-secrets.ts";
import type { Config } from "./config-values.ts";
import { configOwner } from "./installation.ts";

interface SealedRow {
  id: string;
  sealed_config: string | null;
}

export function openConfig(seal: Seal, row: SealedRow): Config {
  if (row.sealed_config === null) return {};
  return JSON.parse(seal.open(row.sealed_config, configOwner(row.id))) as Config;
}

/** One that can't be opened must not take all others with it, nor stand in the way of a new one. */
export function openIfPossible(seal: Seal, row: SealedRow, onBroken?: (error: SealBrokenError) => void): Config {
  const opened =
    row.sealed_config === null ? undefined : seal.openIfPossible(row.sealed_config, configOwner(row.id), onBroken);
  return opened === undefined ? {} : (JSON.parse(opened) as Config);
}

interface SecretsRow {
  /** Of the app, now. */
  config_secrets: string | null;
  /** Of the app, when the configuration was stored. */
  earlier_secrets: string | null;
}

export const secretsOf = ({ config_secrets }: SecretsRow): ConfigSecrets | null =>
  config_secrets === null ? null : (JSON.parse(config_secrets) as ConfigSecrets);

/** Those that are not in force any more, mostly none. */
export function earlierSecretsOf({ config_secrets, earlier_secrets }: SecretsRow): ConfigSecrets[] {
  if (earlier_secrets === null) return [];
  const all = JSON.parse(earlier_secrets) as ConfigSecrets[];
  return all.filter((each) => JSON.stringify(each) !== config_secrets);
}

const mostEarlier = 2;

/**
 * To be kept with what is now stored: what is secret now, and what was before, where a value has been kept that only that hides. Whoever sent
 * null for it hasn't said that it may be seen.
 */
export function secretsToStore(row: SecretsRow, onlyEarlier: boolean): string | null {
  const [now, earlier] = [secretsOf(row), onlyEarlier ? earlierSecretsOf(row) : []];
  if (earlier.length > mostEarlier) return JSON.stringify(["all"]);
  const all = now === null ? earlier : [now, ...earlier];
  return all.length === 0 ? null : JSON.stringify(all);
}
