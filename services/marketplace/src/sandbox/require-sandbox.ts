import { forbidden } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { findOrganisationKind } from "../organisations/read-organisations.ts";

/** The same response whether the organisation is another's, is live, or doesn't exist, so that callers can't discover aliases. */
export async function requireSandboxOf(
  transaction: Transaction<DB>,
  { caller, vendor }: VendorContext,
  vendorId: string,
  alias: string,
): Promise<string> {
  const found = await findOrganisationKind(transaction, alias);
  if (found?.kind === "SANDBOX" && found.vendor_id === vendorId) return found.id;
  throw forbidden(caller, `${JSON.stringify(alias)} is not a sandbox organisation of the vendor ${vendor}.`);
}
