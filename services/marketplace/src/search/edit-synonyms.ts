import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SearchSynonyms, SynonymGroup } from "@ehr-marketplace/contracts";
import { invalidInputs, isMatch, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { searchProblems } from "./search-errors.ts";
import { findSynonyms, lockSynonyms, replaceSynonyms } from "./synonym-store.ts";

export interface SynonymDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

export interface TaggedSynonyms extends SearchSynonyms {
  etag: string;
}

const tag = (synonyms: SynonymGroup[]): TaggedSynonyms => ({
  synonyms,
  etag: `"${hash("sha1", JSON.stringify(synonyms), "base64url")}"`,
});

export async function readSynonyms(database: Kysely<DB>): Promise<TaggedSynonyms> {
  return tag(await findSynonyms(database));
}

const without = (groups: SynonymGroup[], others: SynonymGroup[]): SynonymGroup[] => {
  const known = new Set(others.map((group) => JSON.stringify(group)));
  return groups.filter((group) => !known.has(JSON.stringify(group)));
};

/** Replaces all synonyms, if they are those that the caller has read. The audit log gets the groups that differ. */
export async function putSynonyms(
  { database, clock }: SynonymDeps,
  by: RequestContext,
  given: SynonymGroup[],
  ifMatch: string,
): Promise<TaggedSynonyms> {
  const meaningless = given.flatMap(({ term, synonyms }, group) =>
    term === undefined && synonyms.length < 2
      ? [{ pointer: `/body/synonyms/${group}/synonyms`, detail: "must have at least 2 items, unless term is given" }]
      : [],
  );
  if (meaningless.length > 0) throw invalidInputs(meaningless);
  return database.transaction().execute(async (transaction) => {
    await lockSynonyms(transaction);
    const before = tag(await findSynonyms(transaction));
    if (!isMatch(ifMatch, before.etag)) {
      throw new Problem(searchProblems.synonymsChanged, "The synonyms aren't those with the ETag in If-Match.");
    }
    // In the order in which they are stored and read
    const groups = given.map(({ term, synonyms }) => (term === undefined ? { synonyms } : { term, synonyms }));
    if (isDeepStrictEqual(groups, before.synonyms)) return before;
    await replaceSynonyms(transaction, groups);
    await recordAudit(transaction, {
      by,
      role: "operator",
      at: clock(),
      // An organisation's alias can't contain a colon, so no organisation reads these entries.
      onBehalfOf: "marketplace:search",
      action: "search-synonyms.change",
      target: { kind: "search-synonyms", id: "all" },
      before: { removed: without(before.synonyms, groups) },
      after: { added: without(groups, before.synonyms) },
    });
    return tag(groups);
  });
}
