import { isDeepStrictEqual } from "node:util";
import type { OrganisationDto, PutOrganisationBody } from "@ehr-marketplace/contracts";
import type { Resolve } from "@ehr-marketplace/outbound-http";
import { canonicaliseNetwork } from "@ehr-marketplace/outbound-http/addresses";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { requireRole } from "../access/require-role.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { generateSigningSecret, requireUsableSecret } from "../secrets/signing-secret.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import { defaultTimeZone, isTimeZone, secretOwner, withoutTrailingSlashes } from "./organisation.ts";
import { organisationProblems } from "./organisation-errors.ts";
import { organisationRecord } from "./organisation-record.ts";
import {
  countSandboxes,
  insertOrganisation,
  lockOrganisation,
  lockSandboxes,
  type OrganisationRow,
  updateOrganisation,
} from "./organisation-store.ts";
import { requireUsableCallback } from "./require-usable-callback.ts";

export interface OrganisationDeps {
  database: Kysely<DB>;
  encryption: Encryption;
  clock: () => Date;
  queue: Queue;
  /** Resolves all addresses of a name, in the same way as delivery does. */
  resolve: Resolve;
}

export interface OrganisationColumns {
  display_name: string;
  callback_url: string | null;
  callback_networks: string[];
  time_zone: string;
}

/** Without a time zone, an organisation keeps the one that it has. */
export type GivenColumns = Omit<OrganisationColumns, "time_zone"> & { time_zone: string | undefined };

/** Throws a problem for values that the schema can't refuse. */
export function toColumns(input: PutOrganisationBody): GivenColumns {
  const networks = (input.callbackNetworks ?? []).map((given, index) => {
    const network = canonicaliseNetwork(given);
    if (network !== undefined) return network;
    throw invalidRequest(`/body/callbackNetworks/${index}`, "is not a network such as 10.20.0.0/16");
  });
  if (input.timeZone !== undefined && !isTimeZone(input.timeZone)) {
    throw invalidRequest("/body/timeZone", "is not the name of a time zone, such as America/New_York");
  }
  if (input.secret !== undefined) requireUsableSecret(input.secret);
  return {
    display_name: input.displayName,
    callback_url: input.callbackUrl == null ? null : withoutTrailingSlashes(input.callbackUrl),
    callback_networks: networks,
    time_zone: input.timeZone,
  };
}

/** The columns of an organisation, of which `before` is the row if it is registered already. */
export const completeColumns = (given: GivenColumns, before?: OrganisationRow): OrganisationColumns => ({
  ...given,
  time_zone: given.time_zone ?? before?.time_zone ?? defaultTimeZone,
});

/** Each of them hears of every change of the vendor's drafts. */
const maxSandboxesPerVendor = 20;

/** What an organisation is unless it is said. */
export const live = { kind: "LIVE", vendor_slug: null };

/** Registers or replaces an organisation. Secret, kind and vendor stay unless the input has a new secret. */
export async function putOrganisation(
  { database, encryption, clock, queue, resolve }: OrganisationDeps,
  by: RequestContext,
  alias: string,
  input: PutOrganisationBody,
): Promise<{ created: boolean; organisation: OrganisationDto }> {
  const role = requireRole(by.caller, alias, ["operator"]);
  const given = toColumns(input);
  const warnings = await requireUsableCallback(given.callback_url, given.callback_networks, resolve);
  const now = clock();

  return database.transaction().execute(async (transaction) => {
    const secret = input.secret ?? generateSigningSecret();
    const { kind = live.kind, vendorSlug = null } = input;
    const newRow = buildRow(
      encryption,
      { alias, ...completeColumns(given), kind, vendor_slug: vendorSlug, created_at: now, updated_at: now },
      secret,
    );
    const created = await register(transaction, newRow);
    const before = created ? undefined : await lockOrganisation(transaction, alias);
    if (before === undefined && !created) throw unclearKind(input);
    if (before !== undefined) requireSameKind(before, input);
    const columns = completeColumns(given, before);
    if (before !== undefined && input.secret === undefined && isUnchanged(before, columns)) {
      return { created, organisation: { ...organisationRecord(before), ...warnings } };
    }
    // `now` was read before the row lock: a request that waited for another's change must not get an earlier time than that change.
    const at = before === undefined ? now : nextInstant(now, before.updated_at);
    if (before !== undefined) {
      const secretColumn =
        input.secret === undefined ? {} : { encrypted_secret: encryption.encrypt(secret, secretOwner(before.id)) };
      await updateOrganisation(transaction, before.id, { ...columns, ...secretColumn, updated_at: at });
    }
    if (before !== undefined && before.callback_url !== columns.callback_url) {
      const type = columns.callback_url === null ? "callback-removed" : "callback-changed";
      await applyRecipientEvent(transaction, queue, before.id, { type, at });
    }
    const organisation = organisationRecord({
      ...newRow,
      ...columns,
      kind: before?.kind ?? kind,
      vendor_slug: before === undefined ? vendorSlug : before.vendor_slug,
      created_at: before?.created_at ?? now,
      updated_at: at,
    });
    await recordAudit(transaction, {
      by,
      role,
      at,
      onBehalfOf: alias,
      action: created ? "organisation.register" : "organisation.change",
      target: { kind: "organisation", id: alias },
      before: before === undefined ? null : organisationRecord(before),
      after: { ...organisation, secretChanged: created || input.secret !== undefined },
    });
    return {
      created,
      organisation: { ...organisation, ...(created && input.secret === undefined && { secret }), ...warnings },
    };
  });
}

/** Returns false if the alias is registered already, or if a new organisation must be of another kind to have this vendor, or none. */
async function register(
  transaction: Transaction<DB>,
  { vendor_slug: vendorSlug, ...row }: OrganisationRow,
): Promise<boolean> {
  const vendorId = vendorSlug === null ? null : await requireVendorId(transaction, vendorSlug);
  if ((row.kind === "SANDBOX") !== (vendorId !== null)) return false;
  if (vendorId !== null) await lockSandboxes(transaction, vendorId);
  if (!(await insertOrganisation(transaction, { ...row, vendor_id: vendorId }))) return false;
  if (vendorId !== null && (await countSandboxes(transaction, vendorId)) > maxSandboxesPerVendor) {
    const detail = `The vendor ${vendorSlug} already has ${maxSandboxesPerVendor} sandbox organisations.`;
    throw new Problem(organisationProblems.tooManySandboxes, detail);
  }
  return true;
}

const unclearKind = ({ vendorSlug }: PutOrganisationBody): Problem =>
  vendorSlug === undefined
    ? invalidRequest("/body/vendorSlug", "is required for a new sandbox organisation")
    : invalidRequest("/body/kind", "must be SANDBOX for a new organisation of a vendor");

function requireSameKind(row: OrganisationRow, { kind, vendorSlug }: PutOrganisationBody): void {
  const isSame = (kind ?? row.kind) === row.kind && (vendorSlug ?? row.vendor_slug) === row.vendor_slug;
  if (isSame) return;
  const of = row.vendor_slug === null ? "" : ` of the vendor ${row.vendor_slug}`;
  throw new Problem(organisationProblems.kindFixed, `The organisation ${row.alias} is ${row.kind}${of}.`);
}

export function isUnchanged(
  row: OrganisationRow,
  { display_name, callback_url, callback_networks, time_zone }: OrganisationColumns,
): boolean {
  const has = [row.display_name, row.callback_url, row.callback_networks, row.time_zone];
  return isDeepStrictEqual(has, [display_name, callback_url, callback_networks, time_zone]);
}

export function buildRow(
  encryption: Encryption,
  row: Omit<OrganisationRow, "id" | "encrypted_secret">,
  secret: string,
): OrganisationRow {
  const id = uuid();
  return { ...row, id, encrypted_secret: encryption.encrypt(secret, secretOwner(id)) };
}
