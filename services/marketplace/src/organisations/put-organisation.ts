import { isDeepStrictEqual } from "node:util";
import type { OrganisationDto, PutOrganisationBody } from "@ehr-marketplace/contracts";
import type { Resolve } from "@ehr-marketplace/outbound-http";
import { canonicaliseNetwork } from "@ehr-marketplace/outbound-http/addresses";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { requireRole } from "../access/require-role.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { generateSigningSecret, requireUsableSecret } from "../secrets/signing-secret.ts";
import { secretOwner, withoutTrailingSlashes } from "./organisation.ts";
import { organisationRecord } from "./organisation-record.ts";
import {
  insertOrganisation,
  lockOrganisation,
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
}

/** Throws a problem for values that the schema can't refuse. */
export function toColumns(input: PutOrganisationBody): OrganisationColumns {
  const networks = (input.callbackNetworks ?? []).map((given, index) => {
    const network = canonicaliseNetwork(given);
    if (network !== undefined) return network;
    throw invalidRequest(`/body/callbackNetworks/${index}`, "is not a network such as 10.20.0.0/16");
  });
  if (input.secret !== undefined) requireUsableSecret(input.secret);
  return {
    display_name: input.displayName,
    callback_url: input.callbackUrl == null ? null : withoutTrailingSlashes(input.callbackUrl),
    callback_networks: networks,
  };
}

/** Registers or replaces an organisation. The secret stays unless the input has a new one. */
export async function putOrganisation(
  { database, encryption, clock, queue, resolve }: OrganisationDeps,
  by: RequestContext,
  alias: string,
  input: PutOrganisationBody,
): Promise<{ created: boolean; organisation: OrganisationDto }> {
  const role = requireRole(by.caller, alias, ["operator"]);
  const columns = toColumns(input);
  await requireUsableCallback(columns.callback_url, columns.callback_networks, resolve);
  const now = clock();

  return database.transaction().execute(async (transaction) => {
    const secret = input.secret ?? generateSigningSecret();
    const newRow = buildRow(encryption, { alias, ...columns, created_at: now, updated_at: now }, secret);
    const created = await insertOrganisation(transaction, newRow);
    const before = created ? undefined : await lockOrganisation(transaction, alias);
    if (before !== undefined && input.secret === undefined && isUnchanged(before, columns)) {
      return { created, organisation: organisationRecord(before) };
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
      organisation: created && input.secret === undefined ? { ...organisation, secret } : organisation,
    };
  });
}

export function isUnchanged(
  row: OrganisationRow,
  { display_name, callback_url, callback_networks }: OrganisationColumns,
): boolean {
  const has = [row.display_name, row.callback_url, row.callback_networks];
  return isDeepStrictEqual(has, [display_name, callback_url, callback_networks]);
}

export function buildRow(
  encryption: Encryption,
  row: Omit<OrganisationRow, "id" | "encrypted_secret">,
  secret: string,
): OrganisationRow {
  const id = uuid();
  return { ...row, id, encrypted_secret: encryption.encrypt(secret, secretOwner(id)) };
}
