import { type ConfigSchema, compileSchema, type JsonObject, keepSecrets } from "@ehr-marketplace/config-schema";
import type { InstallationDto } from "@ehr-marketplace/contracts";
import { invalidInputs, Problem } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { holdingOrganisation } from "../organisations/hold-organisation.ts";
import type { OrganisationSlots } from "../organisations/organisation-slots.ts";
import type { AppConfirmer } from "./confirm-apps.ts";
import { configOwner } from "./installation.ts";
import { installationProblems, notInstalled } from "./installation-errors.ts";
import { installationRecord } from "./installation-record.ts";
import { findConfigured, lockConfigured, sumOtherConfigBytes, updateInstallation } from "./installation-store.ts";
import { openConfig, openIfPossible, secretsOf, secretsToStore } from "./stored-config.ts";

export interface Configuring {
  database: Kysely<DB>;
  seal: Seal;
  clock: () => Date;
  /** Dropped at once, so that whoever has configured an app sees it at the next request. */
  installations: { drop(orgAlias: string): void };
  confirmer: Pick<AppConfirmer, "confirmOnDemand" | "ensureConfigurable">;
  slots: OrganisationSlots;
}

/** Encrypted, and of all apps of an organisation: listing them decrypts them all, and keeps the event loop for that long. */
const maxConfigBytesTogether = 1_048_576;

type Configured = NonNullable<Awaited<ReturnType<typeof findConfigured>>>;

/** Replaces the configuration, under the organisation's lock: validation takes milliseconds. */
export async function putConfig(
  { database, seal, clock, installations, confirmer, slots }: Configuring,
  actor: Actor,
  orgAlias: string,
  appSlug: string,
  given: JsonObject,
): Promise<InstallationDto> {
  await confirmer.ensureConfigurable(orgAlias, appSlug);
  const store = async (transaction: Transaction<DB>): Promise<InstallationDto> => {
    const row = await lockConfigured(transaction, orgAlias, appSlug);
    if (row === undefined) throw notInstalled();
    const old = openIfPossible(seal, row);
    const { config, kept } = keepSecrets(given, old, secretsOf(row));
    const schema = schemaOf(row);
    assertValid(schema, config);
    const changes = {
      sealed_config: seal.close(JSON.stringify(config), configOwner(row.id)),
      config_secrets: secretsToStore(row, config, kept),
      updated_at: clock(),
    };
    await assertFits(transaction, orgAlias, row, changes.sealed_config);
    await updateInstallation(transaction, row.id, changes);
    await recordAudit(transaction, {
      actor,
      at: changes.updated_at,
      onBehalfOf: orgAlias,
      action: "installation.configure",
      target: { kind: "installation", id: appSlug },
      before: keysOf(schema, old),
      after: keysOf(schema, config),
    });
    return installationRecord(
      { ...row, earlier_secrets: changes.config_secrets, updated_at: changes.updated_at },
      config,
    );
  };
  const stored = await slots.run(orgAlias, () => holdingOrganisation({ database }, orgAlias, store));
  installations.drop(orgAlias);
  return stored;
}

/** For the EHR's own backend: every value as it was set. Nothing is returned unless the audit log has it. */
export async function readConfig(
  { database, seal, clock, confirmer }: Configuring,
  actor: Actor,
  orgAlias: string,
  appSlug: string,
): Promise<JsonObject> {
  const read = (): Promise<JsonObject | undefined> =>
    database.transaction().execute(async (transaction) => {
      const row = await findConfigured(transaction, orgAlias, appSlug);
      if (row === undefined) return undefined;
      const config = openConfig(seal, row);
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

/** What doesn't grow is always accepted, so that an organisation beyond the limit can get below it step by step. */
async function assertFits(
  transaction: Transaction<DB>,
  orgAlias: string,
  { id, sealed_config }: Configured,
  next: string,
): Promise<void> {
  if (next.length <= (sealed_config?.length ?? 0)) return;
  const others = await sumOtherConfigBytes(transaction, orgAlias, id);
  if (others + next.length <= maxConfigBytesTogether) return;
  const detail =
    `With this configuration, which has ${next.length} bytes encrypted, the organisation's configurations would have ${others + next.length} ` +
    `together; at most ${maxConfigBytesTogether} are stored. Shorten this one or those of other apps; those of apps that were removed count for 30 days.`;
  throw new Problem(installationProblems.configurationsTooLarge, detail);
}

function assertValid(schema: ConfigSchema | null, config: JsonObject): void {
  const problems = compileSchema(schema)(config);
  if (problems.length === 0) return;
  throw invalidInputs(problems.map(({ pointer, detail }) => ({ pointer: `/body${pointer}`, detail })));
}

/** For the audit log: the keys that the schema names. Others are an organisation's own words, and only counted. */
function keysOf(schema: ConfigSchema | null, config: JsonObject): { keys: string[]; otherKeys: number } {
  const all = Object.keys(config);
  const keys = all.filter((key) => Object.hasOwn(schema?.properties ?? {}, key));
  return { keys, otherKeys: all.length - keys.length };
}
