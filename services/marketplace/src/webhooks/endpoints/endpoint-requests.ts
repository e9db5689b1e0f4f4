import { withoutNul } from "@ehr-marketplace/contracts";
import type { FastifyRequest } from "fastify";
import { askedBy } from "../../access/asked-by.ts";
import type { Repeatable } from "../../idempotency/once.ts";
import { idempotencyKey, pathOf, repeatableRequest } from "../../idempotency/repeatable-request.ts";
import { type ActingForVendor, actingForVendor } from "./acting-for-vendor.ts";

export const tags: readonly string[] = ["Webhooks"];
export const config = { access: ["vendor-developer", "operator"], waitsOnlyForDatabase: true } as const;

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

export const repeatHeaders = {
  type: "object",
  properties: {
    ...vendorHeaders.properties,
    ...idempotencyKey,
  },
} as const;

export function actingIn(request: FastifyRequest): ActingForVendor {
  const named = request.headers["x-vendor-slug"] as string | undefined;
  return actingForVendor(askedBy(request), named);
}

/** The vendor is as much of the address as the path: one key may serve two vendors of one caller. */
export function repeatable(request: FastifyRequest, { vendor }: ActingForVendor): Repeatable {
  return { ...repeatableRequest(request), path: `${pathOf(request)} of ${vendor}` };
}
