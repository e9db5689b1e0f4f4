import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { requireOrganisationId } from "../organisations/read-organisations.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import { audienceKey } from "./notice.ts";
import { findAudienceNames } from "./notice-settings-store.ts";

/** Whose notices a request is about. Access has been checked. */
export interface NoticeAudience {
  key: string;
  /** As in the audit log. */
  onBehalfOf: string;
}

export async function organisationAudience(database: Kysely<DB>, alias: string): Promise<NoticeAudience> {
  const organisationId = await requireOrganisationId(database, alias);
  return { key: audienceKey({ organisationId }), onBehalfOf: alias };
}

export async function vendorAudience(database: Kysely<DB>, slug: string): Promise<NoticeAudience> {
  return { key: audienceKey({ vendorId: await requireVendorId(database, slug) }), onBehalfOf: `vendor:${slug}` };
}

/** An organisation's alias can't contain a colon, so no organisation reads these entries of the audit log. */
export const operatorAudience: NoticeAudience = { key: audienceKey("operators"), onBehalfOf: "marketplace:notices" };

/** The audience that is stored as this key, and the role of those who may change its settings. */
export async function audienceOfKey(
  database: Kysely<DB>,
  key: string,
): Promise<{ audience: NoticeAudience; role: Role }> {
  const [kind, id = ""] = key.split(":");
  if (kind === "organisation") {
    const alias = (await findAudienceNames(database, "organisations", id))?.alias ?? id;
    return { audience: { key, onBehalfOf: alias }, role: "org-admin" };
  }
  if (kind === "vendor") {
    const slug = (await findAudienceNames(database, "vendors", id))?.alias ?? id;
    return { audience: { key, onBehalfOf: `vendor:${slug}` }, role: "vendor-developer" };
  }
  return { audience: operatorAudience, role: "operator" };
}

/** After "the notices of": what a practice or a vendor is called. */
export async function findAudienceTitle(database: Kysely<DB>, key: string): Promise<string> {
  const [kind, id = ""] = key.split(":");
  if (kind === "operators") return "the marketplace's operators";
  const names = await findAudienceNames(database, kind === "vendor" ? "vendors" : "organisations", id);
  return names?.name ?? (kind === "vendor" ? "a vendor" : "a practice");
}
