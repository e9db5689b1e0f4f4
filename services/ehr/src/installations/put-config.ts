import type { InstallationDto } from "@ehr-marketplace/contracts";
import { invalidInputs, invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { ConfigChecker } from "./config-checker.ts";
import { type Config, deepestConfig, nestsTooDeep } from "./config-values.ts";
import { configOwner } from "./installation.ts";
import { installationProblems, notInstalled } from "./installation-errors.ts";
import { installationRecord } from "./installation-record.ts";
import { findConfigured, lockInstallation, updateInstallation } from "./installation-store.ts";
import { keepSecrets } from "./keep-secrets.ts";
import { earlierSecretsOf, openConfig, openIfPossible, secretsOf, secretsToStore } from "./stored-config.ts";

export interface Configuring {
  database: Kysely<DB>;
  seal: Seal;
  clock: () => Date;
  checker: ConfigChecker;
  /** Dropped at once, so that whoever has configured an app sees it at the next request. */
  installations: { drop(orgAlias: string): void };
}

type Configured = NonNullable<Awaited<ReturnType<typeof findConfigured>>>;

const mostAttempts = 5;

/**
 * Replaces the configuration. It is checked before the row is locked, so that no connection waits for somebody's schema; if what was
 * kept of the stored one has changed meanwhile, it is done again.
 */
export async function putConfig(
  configuring: Configuring,
  orgAlias: string,
  appSlug: string,
  given: Config,
): Promise<InstallationDto> {
  const { database, seal, clock, checker, installations } = configuring;
  if (nestsTooDeep(given)) throw invalidRequest("/body", `nests deeper than ${deepestConfig} levels`);
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const row = await findConfigured(database, orgAlias, appSlug);
    if (row === undefined) throw notInstalled();
    const old = openIfPossible(seal, row);
    const { config, fromStored, onlyEarlier } = keepSecrets(secretsOf(row), given, old, earlierSecretsOf(row));
    await assertFits(checker, orgAlias, row, config);
    const stored = await database.transaction().execute(async (transaction) => {
      const locked = await lockInstallation(transaction, orgAlias, appSlug);
      if (locked === undefined) throw notInstalled();
      if (fromStored && locked.sealed_config !== row.sealed_config) return undefined;
      const now = clock();
      const sealed = seal.close(JSON.stringify(config), configOwner(locked.id));
      const secrets = secretsToStore(row, onlyEarlier);
      await updateInstallation(transaction, locked.id, {
        sealed_config: sealed,
        config_secrets: secrets,
        updated_at: now,
      });
      return installationRecord({ ...locked, earlier_secrets: secrets, updated_at: now }, config);
    });
    if (stored === undefined) continue;
    installations.drop(orgAlias);
    return stored;
  }
  throw new Problem(installationProblems.keepsChanging, "Others are changing this configuration at the same moment.");
}

/** For the EHR's own backend: every value as it was set. */
export async function readConfig({ database, seal }: Configuring, orgAlias: string, appSlug: string): Promise<Config> {
  const row = await findConfigured(database, orgAlias, appSlug);
  if (row === undefined) throw notInstalled();
  return openConfig(seal, row);
}

async function assertFits(checker: ConfigChecker, orgAlias: string, row: Configured, config: Config): Promise<void> {
  if (!row.schema_known) {
    const detail = "What this app can be set to is still being read from the marketplace.";
    throw new Problem(installationProblems.schemaUnknown, detail, { headers: { "retry-after": "5" } });
  }
  if (row.schema_problem !== null) throw unusable(row.schema_problem);
  if (row.config_schema === null) return;
  const result = await checker.check(orgAlias, row.config_schema, config);
  if (result.kind === "unusable") throw unusable(result.why);
  if (result.kind === "valid") return;
  throw invalidInputs(result.wrong.map(({ pointer, detail }) => ({ pointer: `/body${pointer}`, detail })));
}

const unusable = (why: string): Problem =>
  new Problem(
    installationProblems.schemaUnusable,
    `The configuration can't be checked against the schema that the app's vendor published: ${why}.`,
  );
