import { type ImportedSecret, importedSecret } from "@ehr-marketplace/contracts";
import { createLineValidator, type LineImport, mapInSlices, type StoredLine } from "@ehr-marketplace/service-kit/http";
import { type Actor, type AuditedAction, recordAudits } from "../audit/record-audit.ts";
import { secretOwner } from "./organisation.ts";
import { insertOrganisations, lockOrganisations, type SecretRow, updateSecrets } from "./organisation-store.ts";
import { decideSecretChange, requireUsableSecret, type SecretDeps, secretAudit } from "./put-secret.ts";
import { requestReconciliations } from "./request-reconciliation.ts";

const validateLine = createLineValidator(importedSecret);

/** Imports organisations' secrets with the same result as `putSecret` for each line. Only a line that changes nothing leaves no audit entry. */
export function createSecretImport(deps: SecretDeps, actor: Actor): LineImport<ImportedSecret> {
  return {
    keyField: "alias",
    validate: (value) => {
      const line = validateLine(value);
      requireUsableSecret(line.secret);
      return line;
    },
    store: (lines) => storeLines(deps, actor, lines),
  };
}

async function storeLines(deps: SecretDeps, actor: Actor, lines: ImportedSecret[]): Promise<StoredLine[]> {
  const { database, queue, encryption, clock, reconciles } = deps;
  const now = clock();
  const rows = await mapInSlices(lines, ({ alias, secret }) => ({
    alias,
    encrypted_secret: encryption.encrypt(secret, secretOwner(alias)),
  }));
  return database.transaction().execute(async (transaction) => {
    const inserted = new Set(await insertOrganisations(transaction, rows, now));
    const others = lines.flatMap(({ alias }) => (inserted.has(alias) ? [] : [alias]));
    const existing = new Map((await lockOrganisations(transaction, others)).map((row) => [row.alias, row]));

    const updated: (SecretRow & { alias: string })[] = [];
    const audits: AuditedAction[] = [];
    const results = await mapInSlices(lines, (line): StoredLine => {
      const { alias } = line;
      const before = existing.get(alias);
      if (before === undefined) {
        audits.push(secretAudit(actor, now, alias, null, { secretChanged: true, previousUntil: null }));
        return { status: "created" };
      }
      const { isKept, changes } = decideSecretChange(encryption, alias, before, line, now);
      if (changes === undefined) return { status: "unchanged" };
      updated.push({ ...before, ...changes, updated_at: now });
      const [previouslyUntil, previousUntil] = [before, changes].map(
        (row) => row.previous_until?.toISOString() ?? null,
      );
      const after = { secretChanged: !isKept, previousUntil };
      audits.push(secretAudit(actor, now, alias, { previousUntil: previouslyUntil }, after));
      return { status: "updated" };
    });
    await updateSecrets(transaction, updated);
    if (reconciles) {
      const changed = lines.filter((_line, index) => results[index]?.status !== "unchanged");
      await requestReconciliations(
        transaction,
        queue,
        changed.map(({ alias }) => alias),
      );
    }
    await recordAudits(transaction, audits);
    return results;
  });
}
