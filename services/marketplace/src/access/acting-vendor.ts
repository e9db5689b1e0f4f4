import { forbidden } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";

/** The vendor that a developer acts for; one who works for several names it in `X-Vendor-Slug`. */
export function actingVendor(caller: Caller, named: string | undefined): string {
  if (!caller.roles.has("vendor-developer"))
    throw forbidden(caller, "This is for callers with the role vendor-developer.");
  if (named !== undefined) {
    if (caller.vendors.has(named)) return named;
    throw forbidden(caller, "The token doesn't name the vendor in X-Vendor-Slug.");
  }
  const [only, ...others] = caller.vendors;
  if (only !== undefined && others.length === 0) return only;
  throw forbidden(
    caller,
    `The token names ${caller.vendors.size} vendors; say in X-Vendor-Slug for which one you act.`,
  );
}
