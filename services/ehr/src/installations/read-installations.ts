import type { JsonObject } from "@ehr-marketplace/config-schema";
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

/** An organisation's installations, as they are answered: made once, then only copied out. */
export interface OrganisationInstallations {
  list: Representation;
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
const bytesPerInstallation = 200;

export async function loadInstallations(
  database: Kysely<DB>,
  seal: Seal,
  orgAlias: string,
  logger: Logger,
): Promise<OrganisationInstallations> {
  const rows = await findInstallations(database, orgAlias);
  const configOf = (row: InstallationRow): JsonObject =>
    openIfPossible(seal, row, (error) =>
      logger.error(
        { err: error, orgAlias, appSlug: row.app_slug },
        "a configuration can't be opened; it is shown as empty",
      ),
    );
  const records = rows.map((row) => installationRecord(row, configOf(row))).toSorted(inOrder);
  const before = `${wrapperTo(records.length === 1 ? "1 app is installed." : `${records.length} apps are installed.`)}[`;
  const jsons = records.map((record) => JSON.stringify(record));
  const list = representationOf(`${before}${jsons.join(",")}]}`, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "private, no-cache",
    vary: "authorization, x-org-alias, origin, accept-encoding",
  });
  // Where each lies in the list's bytes: a copy of its own would take the same memory again.
  const places = new Map<string, Buffer>();
  let at = Buffer.byteLength(before);
  for (const [index, { appSlug }] of records.entries()) {
    const end = at + Buffer.byteLength(jsons[index] ?? "");
    places.set(appSlug, list.plain.body.subarray(at, end));
    at = end + ",".length;
  }
  return {
    list,
    has: (appSlug) => places.has(appSlug),
    one(appSlug) {
      const json = places.get(appSlug);
      if (json === undefined) throw notInstalled();
      return Buffer.concat([oneBefore, json, oneAfter]);
    },
    // The compressed forms come later and are smaller; half the size again leaves room for both.
    bytes: Math.ceil(list.plain.body.length * 1.5) + records.length * bytesPerInstallation,
  };
}
