import {
  type ConfigSchema,
  compileSchema,
  type JsonObject,
  keepSecrets,
  secretsIn,
} from "@ehr-marketplace/config-schema";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { invalidInputs, Problem } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import type { OrganisationSlots } from "../organisations/organisation-slots.ts";
import { ensureConfigurable, type OnDemandConfirmer } from "./ensure-configurable.ts";
import { toInstallationDto } from "./installation-dto.ts";
import { installationProblems, notInstalled } from "./installation-errors.ts";
import {
  findInstallationConfig,
  lockInstallationConfig,
  sumOtherConfigBytes,
  updateInstallation,
} from "./installation-store.ts";
import { configOwner, decryptConfig, secretsOf, secretsToStore, tryDecryptConfig } from "./stored-config.ts";

export interface ConfigDeps {
  database: Kysely<DB>;
  encryption: Encryption;
  clock: () => Date;
  /** Dropped after the change, so that the next request to this process returns the new configuration. */
  installations: { drop(orgAlias: string): void };
  confirmer: OnDemandConfirmer;
  slots: OrganisationSlots;
}

/** Of an organisation's encrypted configurations in total: listing installations decrypts all of them on the event loop. */
const maxTotalConfigBytes = 1_048_576;

type Configured = NonNullable<Awaited<ReturnType<typeof findInstallationConfig>>>;

export interface StoredConfig {
  installation: InstallationDto;
  /** Pointers to secrets that were stored, and that the new configuration leaves out. */
  deletedSecrets: string[];
}

/** Replaces the configuration. Validation runs under the organisation's lock, since it takes milliseconds. */
export async function putConfig(
  deps: ConfigDeps,
  actor: Actor,
  orgAlias: string,
  appSlug: string,
  given: JsonObject,
): Promise<StoredConfig> {
  const { database, encryption, clock, installations, slots } = deps;
  await ensureConfigurable(deps, orgAlias, appSlug);
  const store = async (transaction: Transaction<DB>): Promise<StoredConfig> => {
    const row = await lockInstallationConfig(transaction, orgAlias, appSlug);
    if (row === undefined) throw notInstalled();
    const old = tryDecryptConfig(encryption, row);
    const secrets = secretsOf(row);
    const { config, kept } = keepSecrets(given, old, secrets);
    const schema = schemaOf(row);
    assertValidConfig(schema, config);
    const changes = {
      encrypted_config: encryption.encrypt(JSON.stringify(config), configOwner(row.id)),
      config_secrets: secretsToStore(row, config, kept),
      updated_at: clock(),
    };
    await assertWithinTotalLimit(transaction, orgAlias, row, changes.encrypted_config);
    await updateInstallation(transaction, row.id, changes);
    await recordAudit(transaction, {
      actor,
      at: changes.updated_at,
      onBehalfOf: orgAlias,
      action: "installation.configure",
      target: { kind: "installation", id: appSlug },
      before: auditedKeys(schema, old),
      after: auditedKeys(schema, config),
    });
    const stored = { ...row, earlier_secrets: changes.config_secrets, updated_at: changes.updated_at };
    const deletedSecrets = new Set(secretsIn(old, secrets)).difference(new Set(secretsIn(config, secrets)));
    return { installation: toInstallationDto(stored, config), deletedSecrets: [...deletedSecrets] };
  };
  const stored = await slots.run(orgAlias, () => withOrganisationLock({ database }, orgAlias, store));
  installations.drop(orgAlias);
  return stored;
}

/** Returns the decrypted configuration to the EHR's own backend, once the audit entry is committed. */
export async function readConfig(
  { database, encryption, clock, confirmer }: ConfigDeps,
  actor: Actor,
  orgAlias: string,
  appSlug: string,
): Promise<JsonObject> {
  const read = (): Promise<JsonObject | undefined> =>
    database.transaction().execute(async (transaction) => {
      const row = await findInstallationConfig(transaction, orgAlias, appSlug);
      if (row === undefined) return undefined;
      const config = decryptConfig(encryption, row);
      await recordAudit(transaction, {
        actor,
        at: clock(),
        onBehalfOf: orgAlias,
        action: "installation.read-config",
        target: { kind: "installation", id: appSlug },
      });
      return config;
    });
  const config = (await read()) ?? ((await confirmer.confirmOnDemand(orgAlias, appSlug)) ? await read() : undefined);
  if (config === undefined) throw notInstalled();
  return config;
}

function schemaOf(row: Configured): ConfigSchema | null {
  if (row.schema_problem !== null) {
    const detail = `The configuration can't be validated: the schema that the app's vendor published is not supported. ${row.schema_problem}`;
    throw new Problem(installationProblems.schemaUnusable, detail);
  }
  return row.config_schema === null ? null : (JSON.parse(row.config_schema) as ConfigSchema);
}

/** A configuration that doesn't grow is always accepted, so that an organisation beyond the limit can reduce its total step by step. */
async function assertWithinTotalLimit(
  transaction: Transaction<DB>,
  orgAlias: string,
  { id, encrypted_config }: Configured,
  next: string,
): Promise<void> {
  if (next.length <= (encrypted_config?.length ?? 0)) return;
  const others = await sumOtherConfigBytes(transaction, orgAlias, id);
  if (others + next.length <= maxTotalConfigBytes) return;
  const detail =
    `With this configuration (${next.length} bytes encrypted) the organisation's configurations would have ${others + next.length} bytes ` +
    `in total; the limit is ${maxTotalConfigBytes}. Shorten this one or those of other apps; those of removed apps count for 30 days.`;
  throw new Problem(installationProblems.configurationsTooLarge, detail);
}

function assertValidConfig(schema: ConfigSchema | null, config: JsonObject): void {
  const problems = compileSchema(schema)(config);
  if (problems.length === 0) return;
  throw invalidInputs(problems.map(({ pointer, detail }) => ({ pointer: `/body${pointer}`, detail })));
}

/** The keys for the audit log: those that the schema names. Other keys may contain personal data, and are only counted. */
function auditedKeys(schema: ConfigSchema | null, config: JsonObject): { keys: string[]; otherKeys: number } {
  const all = Object.keys(config);
  const keys = all.filter((key) => Object.hasOwn(schema?.properties ?? {}, key));
  return { keys, otherKeys: all.length - keys.length };
}
