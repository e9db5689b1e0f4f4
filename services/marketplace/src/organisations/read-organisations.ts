import {
  type OrganisationDto,
  type OrganisationPage,
  orgAliasPattern,
  type PageQuery,
} from "@ehr-marketplace/contracts";
import { decodeCursor, encodeCursor, invalidCursor, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { organisationProblems } from "./organisation-errors.ts";
import { organisationRecord } from "./organisation-record.ts";
import { findOrganisationRow, findOrganisationRows } from "./organisation-store.ts";

const maxPageSize = 1_000;
const aliasRegExp = new RegExp(orgAliasPattern);

export async function getOrganisation(database: Kysely<DB>, alias: string): Promise<OrganisationDto> {
  const row = await findOrganisationRow(database, alias);
  if (row === undefined) throw new Problem(organisationProblems.notFound, "No organisation has that alias.");
  return organisationRecord(row);
}

export async function listOrganisations(database: Kysely<DB>, query: PageQuery): Promise<OrganisationPage> {
  const limit = Math.min(query.limit, maxPageSize);
  const [after] = query.after === undefined ? [] : decodeCursor(query.after, 1);
  if (after !== undefined && !aliasRegExp.test(after)) throw invalidCursor();
  const rows = await findOrganisationRows(database, { limit: limit + 1, after: after ?? "" });
  const items = rows.slice(0, limit).map(organisationRecord);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(last.alias) : null };
}

export { findOrganisationId } from "./organisation-store.ts";
