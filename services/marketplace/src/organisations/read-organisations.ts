import {
  type OrganisationDto,
  type OrganisationPage,
  type OrganisationProfile,
  orgAliasPattern,
  type PageQuery,
} from "@ehr-marketplace/contracts";
import { listPageByName, Problem } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/require-role.ts";
import type { DB } from "../database-schema.ts";
import { readEhrHealth } from "../recipients/read-health.ts";
import { organisationProblems } from "./organisation-errors.ts";
import { organisationProfile, organisationRecord } from "./organisation-record.ts";
import { findOrganisationKind, findOrganisationRow, findOrganisationRows } from "./organisation-store.ts";

const aliasRegExp = new RegExp(orgAliasPattern);

const organisationNotFound = (): Problem =>
  new Problem(organisationProblems.notFound, "No organisation has that alias.");

export async function getOrganisation(database: Kysely<DB>, alias: string): Promise<OrganisationDto> {
  const row = await findOrganisationRow(database, alias);
  if (row === undefined) throw organisationNotFound();
  return organisationRecord(row);
}

/** The organisation for its own people. */
export async function getProfile(database: Kysely<DB>, caller: Caller, alias: string): Promise<OrganisationProfile> {
  requireRole(caller, alias, ["org-member", "org-admin", "operator"]);
  const row = await findOrganisationRow(database, alias);
  if (row === undefined) throw organisationNotFound();
  return organisationProfile(row, await readEhrHealth(database, row.id));
}

export async function requireOrganisationId(database: Kysely<DB>, alias: string): Promise<string> {
  const found = await findOrganisationKind(database, alias);
  if (found === undefined) throw organisationNotFound();
  return found.id;
}

export function listOrganisations(database: Kysely<DB>, query: PageQuery): Promise<OrganisationPage> {
  return listPageByName(query, {
    find: (slice) => findOrganisationRows(database, slice),
    getName: (row) => row.alias,
    pattern: aliasRegExp,
    toItem: organisationRecord,
  });
}

export { findOrganisationKind } from "./organisation-store.ts";
