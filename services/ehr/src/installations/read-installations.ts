import { setImmediate as nextTurn } from "node:timers/promises";
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
  readonly list: Representation | Promise<Representation>;
  has(appSlug: string): boolean;
  one(appSlug: string): Buffer;
  bytes: number;
}

const byName = new Intl.Collator("und", { sensitivity: "accent" });
const inOrder = (a: InstallationRow, b: InstallationRow): number =>
  byName.compare(a.name, b.name) || (a.app_slug < b.app_slug ? -1 : 1);

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
  const rows = new Map((await findInstallations(database, orgAlias)).map((row) => [row.app_slug, row]));
  const jsonOf = (row: InstallationRow): string => {
    const config = openIfPossible(seal, row, (error) =>
      logger.error(
        { err: error, orgAlias, appSlug: row.app_slug },
        "a configuration can't be opened; it is shown as empty",
      ),
    );
    return JSON.stringify(installationRecord(row, config));
  };
  const jsons = new Map<string, Buffer>();
  let list: Representation | Promise<Representation> | undefined;
  const makeList = async (): Promise<Representation> => {
    list = await listOf([...rows.values()].toSorted(inOrder), jsonOf, jsons);
    return list;
  };
  return {
    get list() {
      list ??= makeList();
      return list;
    },
    has: (appSlug) => rows.has(appSlug),
    one(appSlug) {
      const row = rows.get(appSlug);
      if (row === undefined) throw notInstalled();
      const json = jsons.get(appSlug) ?? Buffer.from(jsonOf(row));
      jsons.set(appSlug, json);
      return Buffer.concat([oneBefore, json, oneAfter]);
    },
    bytes: Math.ceil(rows.values().reduce((sum, row) => sum + bytesOf(row), 0)),
  };
}

/** About a millisecond or two of decrypting, parsing and writing. */
const bytesPerSlice = 16_384;

/**
 * Other requests are served between slices: all of an organisation's configurations take up to 100 ms. `jsons` gets each record's part
 * of the list's bytes: a copy of its own would take the same memory again.
 */
async function listOf(
  rows: InstallationRow[],
  jsonOf: (row: InstallationRow) => string,
  jsons: Map<string, Buffer>,
): Promise<Representation> {
  const before = `${wrapperTo(rows.length === 1 ? "1 app is installed." : `${rows.length} apps are installed.`)}[`;
  const parts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const json = jsonOf(row);
    parts.push(json);
    bytes += json.length;
    if (bytes < bytesPerSlice) continue;
    bytes = 0;
    await nextTurn();
  }
  const list = representationOf(`${before}${parts.join(",")}]}`, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "private, no-cache",
    vary: "authorization, x-org-alias, origin, accept-encoding",
  });
  let at = Buffer.byteLength(before);
  for (const [index, { app_slug }] of rows.entries()) {
    const end = at + Buffer.byteLength(parts[index] ?? "");
    jsons.set(app_slug, list.plain.body.subarray(at, end));
    at = end + ",".length;
  }
  return list;
}
