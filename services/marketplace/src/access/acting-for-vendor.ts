import { withoutNul } from "@ehr-marketplace/contracts";
import { forbidden } from "@ehr-marketplace/service-kit/http";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";
import { actingVendor } from "./acting-vendor.ts";
import { askedBy } from "./asked-by.ts";
import type { Asked } from "./role-for.ts";

/** Who asks, and for which vendor: everything below `/developer` is done for one. */
export interface ActingForVendor extends Asked {
  vendor: string;
  role: Role;
}

export const vendorHeaders = {
  type: "object",
  properties: {
    "x-vendor-slug": {
      type: "string",
      pattern: withoutNul,
      maxLength: 64,
      description: "The vendor you act for: needed by operators, and by developers of several vendors",
    },
  },
} as const;

export function actingIn(request: FastifyRequest): ActingForVendor {
  const named = request.headers["x-vendor-slug"] as string | undefined;
  return actingForVendor(askedBy(request), named);
}

function actingForVendor(asked: Asked, named: string | undefined): ActingForVendor {
  const { caller } = asked;
  const isTheirs = caller.roles.has("vendor-developer") && (named === undefined || caller.vendors.has(named));
  if (isTheirs || !caller.roles.has("operator")) {
    return { ...asked, vendor: actingVendor(caller, named), role: "vendor-developer" };
  }
  if (named === undefined) throw forbidden(caller, "Say in X-Vendor-Slug for which vendor you act.");
  return { ...asked, vendor: named, role: "operator" };
}

/** Whose affair an entry of the audit log is. No organisation's alias has a colon. */
export const onBehalfOf = ({ vendor }: ActingForVendor): string => `vendor:${vendor}`;
