import { isDeepStrictEqual } from "node:util";
import type { OrganisationDto, PutOrganisation } from "@ehr-marketplace/contracts";
import { canonicalNetwork } from "@ehr-marketplace/service-kit/addresses";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import { type Asked, requireRole } from "../access/role-for.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { newSigningSecret, requireUsableSecret } from "../secrets/signing-secret.ts";
import { recipientMoved } from "../webhooks/delivery/act-on-recipient.ts";
import type { Resolve } from "../webhooks/delivery/send/admitted-addresses.ts";
import { nextInstant } from "../webhooks/events/event.ts";
import { requireUsableCallback } from "./check-callback.ts";
import { secretOwner, withoutTrailingSlashes } from "./organisation.ts";
import { organisationRecord } from "./organisation-record.ts";
import {
  insertOrganisation,
  lockOrganisation,
  type OrganisationRow,
  updateOrganisation,
} from "./organisation-store.ts";

export interface Registering {
  database: Kysely<DB>;
  seal: Seal;
  clock: () => Date;
  queue: Queue;
  /** All addresses of a name, found as they are when something is sent to it. */
  resolve: Resolve;
}

interface Wanted {
  display_name: string;
  callback_url: string | null;
  callback_networks: string[];
}

function wantedFrom(input: PutOrganisation): Wanted {
  const networks = (input.callbackNetworks ?? []).map((given, index) => {
    const network = canonicalNetwork(given);
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

/** Registers an organisation, or changes all of it but the secret, which stays unless a new one is given. */
export async function putOrganisation(
  { database, seal, clock, queue, resolve }: Registering,
  by: Asked,
  alias: string,
  input: PutOrganisation,
): Promise<{ created: boolean; organisation: OrganisationDto }> {
  const role = requireRole(by.caller, alias, ["operator"]);
  const wanted = wantedFrom(input);
  await requireUsableCallback(wanted.callback_url, wanted.callback_networks, resolve);
  const now = clock();

  return database.transaction().execute(async (transaction) => {
    const secret = input.secret ?? newSigningSecret();
    const fresh = freshRow(seal, { alias, ...wanted, created_at: now, updated_at: now }, secret);
    const created = await insertOrganisation(transaction, fresh);
    const before = created ? undefined : await lockOrganisation(transaction, alias);
    if (before !== undefined && input.secret === undefined && isAlready(before, wanted)) {
      return { created, organisation: organisationRecord(before) };
    }
    // Whoever waited for another's change took the time before it; the log would tell the two in the wrong order.
    const at = before === undefined ? now : nextInstant(now, before.updated_at);
    if (before !== undefined) {
      const sealed = input.secret === undefined ? {} : { sealed_secret: seal.close(secret, secretOwner(before.id)) };
      await updateOrganisation(transaction, before.id, { ...wanted, ...sealed, updated_at: at });
    }
    if (before !== undefined && before.callback_url !== wanted.callback_url) {
      await recipientMoved(transaction, queue, before.id, at);
    }
    const organisation = organisationRecord({
      ...fresh,
      created_at: before?.created_at ?? now,
      updated_at: at,
    });
    await recordAudit(transaction, {
      by,
      as: role,
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

function isAlready(row: OrganisationRow, { display_name, callback_url, callback_networks }: Wanted): boolean {
  const has = [row.display_name, row.callback_url, row.callback_networks];
  return isDeepStrictEqual(has, [display_name, callback_url, callback_networks]);
}

function freshRow(seal: Seal, row: Omit<OrganisationRow, "id" | "sealed_secret">, secret: string): OrganisationRow {
  const id = uuid();
  return { ...row, id, sealed_secret: seal.close(secret, secretOwner(id)) };
}
