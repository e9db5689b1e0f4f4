import { noNulPattern } from "@ehr-marketplace/contracts";
import { forbidden, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Caller, Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";
import { type RequestContext, requestContextOf } from "./request-context.ts";

/** The request's context and the vendor that the caller acts for. All routes below `/developer` need it. */
export interface VendorContext extends RequestContext {
  vendor: string;
  role: Role;
}

const vendorSlug = { type: "string", pattern: noNulPattern, maxLength: 64 } as const;

export const vendorHeaders = {
  type: "object",
  properties: {
    "x-vendor-slug": {
      ...vendorSlug,
      description: "The vendor that you act for. Required for operators, and for developers of several vendors",
    },
  },
} as const;

/** Of routes that others than developers use for themselves. */
export const developerHeaders = {
  type: "object",
  properties: {
    "x-vendor-slug": {
      ...vendorSlug,
      description: "The vendor that you act for. Required for developers of several vendors",
    },
  },
} as const;

export function vendorContextOf(request: FastifyRequest): VendorContext {
  // Blank counts as absent.
  const requestedSlug = (request.headers["x-vendor-slug"] as string | undefined) || undefined;
  return resolveVendorContext(requestContextOf(request), requestedSlug);
}

function resolveVendorContext(context: RequestContext, requestedSlug: string | undefined): VendorContext {
  const { caller } = context;
  const actsAsDeveloper =
    caller.roles.has("vendor-developer") && (requestedSlug === undefined || caller.vendors.has(requestedSlug));
  if (actsAsDeveloper || !caller.roles.has("operator")) {
    return { ...context, vendor: resolveVendor(caller, requestedSlug), role: "vendor-developer" };
  }
  if (requestedSlug === undefined) throw vendorMissing("Name the vendor that you act for in X-Vendor-Slug.");
  return { ...context, vendor: requestedSlug, role: "operator" };
}

/** The vendor that a developer acts for. Developers of several vendors name it in `X-Vendor-Slug`. */
export function resolveVendor(caller: Caller, requestedSlug: string | undefined): string {
  if (!caller.roles.has("vendor-developer")) throw forbidden(caller, "This requires the role vendor-developer.");
  if (requestedSlug !== undefined) {
    if (caller.vendors.has(requestedSlug)) return requestedSlug;
    throw forbidden(caller, "The token doesn't name the vendor in X-Vendor-Slug.");
  }
  const [only, ...others] = caller.vendors;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) throw forbidden(caller, "The token names no vendor.");
  throw vendorMissing(
    `The token names ${caller.vendors.size} vendors; name the one that you act for in X-Vendor-Slug.`,
  );
}

/** Not 403, because the caller may do this as soon as the request says for whom. */
const vendorMissing = (detail: string): Problem =>
  new Problem(standardProblems.invalidRequest, detail, {
    errors: [{ pointer: "/headers/x-vendor-slug", detail: "is required" }],
  });

/** The `onBehalfOf` of a vendor's audit entries. An organisation's alias can't contain a colon, so the two can't collide. */
export const onBehalfOf = ({ vendor }: VendorContext): string => `vendor:${vendor}`;
