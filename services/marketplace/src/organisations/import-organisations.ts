import { type ImportedOrganisation, importedOrganisation } from "@ehr-marketplace/contracts";
import type { Resolve } from "@ehr-marketplace/outbound-http";
import { createLineValidator, type LineImport, mapInSlices, type StoredLine } from "@ehr-marketplace/service-kit/http";
import type { RequestContext } from "../access/request-context.ts";
import { requireRole } from "../access/require-role.ts";
import { type NewAuditEntry, recordAudits } from "../audit/record-audit.ts";
import { nextInstant } from "../events/event.ts";
import { applyRecipientEvents } from "../recipients/apply-recipient-event.ts";
import type { RecipientEvent } from "../recipients/recipient.ts";
import { generateSigningSecret } from "../secrets/signing-secret.ts";
import { secretOwner } from "./organisation.ts";
import { organisationRecord } from "./organisation-record.ts";
import {
  insertOrganisations,
  lockOrganisations,
  type OrganisationRow,
  updateOrganisations,
} from "./organisation-store.ts";
import {
  buildRow,
  completeColumns,
  type GivenColumns,
  isUnchanged,
  live,
  type OrganisationDeps,
  toColumns,
} from "./put-organisation.ts";
import { requireUsableCallback } from "./require-usable-callback.ts";

interface ImportedLine {
  alias: string;
  columns: GivenColumns;
  /** Undefined if the line has none. */
  secret: string | undefined;
}

const validateLine = createLineValidator(importedOrganisation);

function toImportedLine({ alias, secret, ...body }: ImportedOrganisation): ImportedLine {
  return { alias, columns: toColumns({ ...body, ...(secret === undefined ? {} : { secret }) }), secret };
}

/** Imports organisations with the same result as `putOrganisation` for each line. */
export function createOrganisationImport(deps: OrganisationDeps, by: RequestContext): LineImport<ImportedLine> {
  const resolve = resolveOnce(deps.resolve);
  return {
    keyField: "alias",
    validate: (value) => toImportedLine(validateLine(value)),
    check: async ({ columns }) => {
      await requireUsableCallback(columns.callback_url, columns.callback_networks, resolve);
    },
    store: (lines) => storeLines(deps, by, lines),
  };
}

/** Many organisations have their EHR on the same host: its name is resolved once. */
function resolveOnce(resolve: Resolve): Resolve {
  const results = new Map<string, ReturnType<Resolve>>();
  return (hostname) => {
    const known = results.get(hostname);
    if (known !== undefined) return known;
    const result = resolve(hostname);
    results.set(hostname, result);
    return result;
  };
}

async function storeLines(deps: OrganisationDeps, by: RequestContext, lines: ImportedLine[]): Promise<StoredLine[]> {
  const { database, encryption, clock, queue } = deps;
  const now = clock();
  const given = await mapInSlices(lines, ({ alias, columns, secret = generateSigningSecret() }) => ({
    row: buildRow(
      encryption,
      { alias, ...completeColumns(columns), ...live, created_at: now, updated_at: now },
      secret,
    ),
    secret,
  }));
  return database.transaction().execute(async (transaction) => {
    const batch = new OrganisationBatch(deps, by, now);
    const inserted = new Set(
      await insertOrganisations(
        transaction,
        given.map(({ row }) => row),
      ),
    );
    const others = lines.flatMap(({ alias }) => (inserted.has(alias) ? [] : [alias]));
    const existing = new Map((await lockOrganisations(transaction, others)).map((row) => [row.alias, row]));

    const results = await mapInSlices(lines, (line, index): StoredLine => {
      const before = existing.get(line.alias);
      if (before !== undefined) return batch.change(before, line);
      const { row, secret } = given[index] ?? {};
      if (row === undefined || secret === undefined) throw new Error("a line has no row");
      batch.register(row);
      return { status: "created", ...(line.secret === undefined ? { secret } : {}) };
    });
    await updateOrganisations(transaction, batch.updated);
    await applyRecipientEvents(transaction, queue, batch.recipientEvents);
    await recordAudits(transaction, batch.audits);
    return results;
  });
}

/** Collects what a batch writes. */
class OrganisationBatch {
  readonly updated: OrganisationRow[] = [];
  readonly recipientEvents = new Map<string, RecipientEvent>();
  readonly audits: NewAuditEntry[] = [];
  readonly #encryption: OrganisationDeps["encryption"];
  readonly #by: RequestContext;
  readonly #now: Date;

  constructor({ encryption }: OrganisationDeps, by: RequestContext, now: Date) {
    this.#encryption = encryption;
    this.#by = by;
    this.#now = now;
  }

  register(row: OrganisationRow): void {
    this.#record("organisation.register", null, row, true);
  }

  change(before: OrganisationRow, { columns: given, secret }: ImportedLine): StoredLine {
    const columns = completeColumns(given, before);
    // A secret that is sent again is no change, so that an import can be repeated.
    const owner = secretOwner(before.id);
    const secretChanged =
      secret !== undefined && this.#encryption.decryptIfPossible(before.encrypted_secret, owner) !== secret;
    if (!secretChanged && isUnchanged(before, columns)) return { status: "unchanged" };
    const at = nextInstant(this.#now, before.updated_at);
    const encrypted_secret = secretChanged ? this.#encryption.encrypt(secret, owner) : before.encrypted_secret;
    const row = { ...before, ...columns, encrypted_secret, updated_at: at };
    this.updated.push(row);
    if (before.callback_url !== row.callback_url) {
      const type = row.callback_url === null ? "callback-removed" : "callback-changed";
      this.recipientEvents.set(row.id, { type, at });
    }
    this.#record("organisation.change", before, row, secretChanged);
    return { status: "updated" };
  }

  #record(action: string, before: OrganisationRow | null, row: OrganisationRow, secretChanged: boolean): void {
    this.audits.push({
      by: this.#by,
      role: requireRole(this.#by.caller, row.alias, ["operator"]),
      at: row.updated_at,
      onBehalfOf: row.alias,
      action,
      target: { kind: "organisation", id: row.alias },
      before: before === null ? null : organisationRecord(before),
      after: { ...organisationRecord(row), secretChanged },
    });
  }
}
