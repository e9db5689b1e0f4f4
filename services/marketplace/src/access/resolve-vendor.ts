import { forbidden } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";

/** The vendor that a developer acts for. Developers of several vendors name it in `X-Vendor-Slug`. */
export function resolveVendor(caller: Caller, requestedSlug: string | undefined): string {
  if (!caller.roles.has("vendor-developer")) throw forbidden(caller, "This requires the role vendor-developer.");
  if (requestedSlug !== undefined) {
    if (caller.vendors.has(requestedSlug)) return requestedSlug;
    throw forbidden(caller, "The token doesn't name the vendor in X-Vendor-Slug.");
  }
  const [only, ...others] = caller.vendors;
  if (only !== undefined && others.length === 0) return only;
  throw forbidden(
    caller,
    `The token names ${caller.vendors.size} vendors; name the one that you act for in X-Vendor-Slug.`,
  );
}
