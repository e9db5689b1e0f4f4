import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createRepresentation, type Representation } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { areScopesCompared, scopesInForce } from "../apps/scopes-in-force.ts";
import type { DB } from "../database-schema.ts";
import { success } from "../responses.ts";
import { toInstallationDto } from "./installation-dto.ts";
import { notInstalled } from "./installation-errors.ts";
import { findInstallations, type InstallationRow } from "./installation-store.ts";
import { tryDecryptConfig } from "./stored-config.ts";

/** An organisation's installations. Configurations are decrypted on first read; responses are serialised once and then reused. */
export interface OrganisationInstallations {
  readonly list: Promise<Representation>;
  readonly isEmpty: boolean;
  has(appSlug: string): boolean;
  get(appSlug: string): Buffer;
  /** The same object each time; undefined for an app that isn't installed, or is paused. */
  getActive(appSlug: string): ActiveInstallation | undefined;
  bytes: number;
}

/** What an authorization server needs to know of an installation. */
export interface ActiveInstallation {
  appSlug: string;
  subscriptionId: string;
  /** Those that the organisation has agreed to. */
  fhirScopes: string;
}

const byName = new Intl.Collator("und", { sensitivity: "accent" });
const compareInstallations = (a: InstallationRow, b: InstallationRow): number =>
  byName.compare(a.name, b.name) || (a.app_slug < b.app_slug ? -1 : 1);

/** The JSON of the wrapper up to its data. */
const wrapperPrefix = (message: string): string => JSON.stringify(success(message, 0)).slice(0, -"0}".length);
const [wrapperStart, wrapperEnd] = [Buffer.from(wrapperPrefix("The app is installed.")), Buffer.from("}")];
const bytesPerInstallation = 1_000;
/** The row with its encrypted configuration (1), the list's JSON (0.75), and its compressed representations (half of the rest). */
const estimateBytes = ({
  encrypted_config,
  name,
  icon_url,
  smart_launch_url,
  cds_services_url,
  fhir_scopes,
  extension_points,
}: InstallationRow): number =>
  (encrypted_config?.length ?? 0) * 2.5 +
  [name, icon_url, smart_launch_url ?? "", cds_services_url ?? "", fhir_scopes, ...extension_points].join("").length *
    2.5 +
  bytesPerInstallation;

export async function loadInstallations(
  database: Kysely<DB>,
  encryption: Encryption,
  orgAlias: string,
  logger: Logger,
): Promise<OrganisationInstallations> {
  const rows = new Map((await findInstallations(database, orgAlias)).map((row) => [row.app_slug, row]));
  const jsonOf = (row: InstallationRow): string => {
    const config = tryDecryptConfig(encryption, row, (error) =>
      logger.error(
        { err: error, orgAlias, appSlug: row.app_slug },
        "failed to decrypt a configuration; returning it as empty",
      ),
    );
    return JSON.stringify(toInstallationDto(row, config));
  };
  const jsons = new Map<string, Buffer>();
  const active = new Map<string, ActiveInstallation>();
  let list: Promise<Representation> | undefined;
  return {
    get list() {
      list ??= buildList([...rows.values()].toSorted(compareInstallations), jsonOf, jsons);
      return list;
    },
    isEmpty: rows.size === 0,
    has: (appSlug) => rows.has(appSlug),
    get(appSlug) {
      const row = rows.get(appSlug);
      if (row === undefined) throw notInstalled();
      const json = jsons.get(appSlug) ?? Buffer.from(jsonOf(row));
      jsons.set(appSlug, json);
      return Buffer.concat([wrapperStart, json, wrapperEnd]);
    },
    getActive(appSlug) {
      const row = rows.get(appSlug);
      if (row?.status !== "active") return undefined;
      const known = active.get(appSlug);
      if (known !== undefined) return known;
      const found = { appSlug, subscriptionId: row.subscription_id, fhirScopes: scopesInForce(row) };
      active.set(appSlug, found);
      return found;
    },
    bytes: Math.ceil(rows.values().reduce((sum, row) => sum + estimateBytes(row), 0)),
  };
}

/** Takes one or two milliseconds to decrypt, parse and serialise. */
const bytesPerSlice = 16_384;

/**
 * Yields to other requests between slices: all configurations of an organisation take up to 100 ms. `jsons` gets views on the list's bytes
 * instead of copies, which would double the memory.
 */
async function buildList(
  rows: InstallationRow[],
  jsonOf: (row: InstallationRow) => string,
  jsons: Map<string, Buffer>,
): Promise<Representation> {
  const before = `${wrapperPrefix(rows.length === 1 ? "1 app is installed." : `${rows.length} apps are installed.`)}[`;
  const parts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const json = jsonOf(row);
    parts.push(json);
    bytes += json.length;
    if (bytes < bytesPerSlice && !areScopesCompared(row)) continue;
    bytes = 0;
    await yieldToEventLoop();
  }
  const list = createRepresentation(`${before}${parts.join(",")}]}`, {
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
