import type { InstallationDto } from "@ehr-marketplace/contracts";
import { type Representation, representationOf } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { success } from "../answers.ts";
import type { DB } from "../database-schema.ts";
import { notInstalled } from "./installation-errors.ts";
import { installationRecord } from "./installation-record.ts";
import { findInstallations, type InstallationRow } from "./installation-store.ts";
import { openIfPossible } from "./stored-config.ts";

/** An organisation's installations. Configurations are decrypted when they are first read; responses are made once, then only copied out. */
export interface OrganisationInstallations {
  readonly list: Representation;
  has(appSlug: string): boolean;
  one(appSlug: string): Buffer;
  bytes: number;
}

const byName = new Intl.Collator("und", { sensitivity: "accent" });
const inOrder = (a: InstallationDto, b: InstallationDto): number =>
  byName.compare(a.name, b.name) || (a.appSlug < b.appSlug ? -1 : 1);

/** The wrapper, up to its data. */
const wrapperTo = (message: string): string => JSON.stringify(success(message, 0)).slice(0, -"0}".length);
const [oneBefore, oneAfter] = [Buffer.from(wrapperTo("The app is installed.")), Buffer.from("}")];
const bytesPerInstallation = 1_000;
/** A row with its encrypted configuration, then the list's bytes: a quarter less, and half again for the compressed forms. */
const bytesOf = ({
  sealed_config,
  name,
  icon_url,
  smart_launch_url,
  fhir_scopes,
  extension_points,
}: InstallationRow): number =>
  (sealed_config?.length ?? 0) * 2.5 +
  [name, icon_url, smart_launch_url ?? "", fhir_scopes, ...extension_points].join("").length * 2.5 +
  bytesPerInstallation;

export async function loadInstallations(
  database: Kysely<DB>,
  seal: Seal,
  orgAlias: string,
  logger: Logger,
): Promise<OrganisationInstallations> {
  // In this order: an app that is confirmed in between is in both, and counts as installed.
  const awaited = new Set(await findUnconfirmedSlugs(database, orgAlias));
  const rows = new Map((await findInstallations(database, orgAlias)).map((row) => [row.app_slug, row]));
  const recordOf = (row: InstallationRow): InstallationDto => {
    const config = openIfPossible(seal, row, (error) =>
      logger.error(
        { err: error, orgAlias, appSlug: row.app_slug },
        "a configuration can't be opened; it is shown as empty",
      ),
    );
    return installationRecord(row, config);
  };
  const jsons = new Map<string, Buffer>();
  let list: Representation | undefined;
  return {
    get list() {
      list ??= listOf([...rows.values()].map(recordOf).toSorted(inOrder), jsons);
      return list;
    },
    has: (appSlug) => rows.has(appSlug),
    isAwaited: (appSlug) => awaited.has(appSlug) && !rows.has(appSlug),
    one(appSlug) {
      const row = rows.get(appSlug);
      if (row === undefined) throw notInstalled();
      const json = jsons.get(appSlug) ?? Buffer.from(JSON.stringify(recordOf(row)));
      jsons.set(appSlug, json);
      return Buffer.concat([oneBefore, json, oneAfter]);
    },
    bytes: Math.ceil(rows.values().reduce((sum, row) => sum + bytesOf(row), 0) + awaited.size * bytesPerInstallation),
  };
}

/** `jsons` gets each record's part of the list's bytes: a copy of its own would take the same memory again. */
function listOf(records: InstallationDto[], jsons: Map<string, Buffer>): Representation {
  const before = `${wrapperTo(records.length === 1 ? "1 app is installed." : `${records.length} apps are installed.`)}[`;
  const parts = records.map((record) => JSON.stringify(record));
  const list = representationOf(`${before}${parts.join(",")}]}`, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "private, no-cache",
    vary: "authorization, x-org-alias, origin, accept-encoding",
  });
  let at = Buffer.byteLength(before);
  for (const [index, { appSlug }] of records.entries()) {
    const end = at + Buffer.byteLength(parts[index] ?? "");
    jsons.set(appSlug, list.plain.body.subarray(at, end));
    at = end + ",".length;
  }
  return list;
}
