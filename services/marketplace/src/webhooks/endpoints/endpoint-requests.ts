import type { FastifyRequest } from "fastify";
import { type ActingForVendor, vendorHeaders } from "../../access/acting-for-vendor.ts";
import type { Repeatable } from "../../idempotency/once.ts";
import { idempotencyKey, pathOf, repeatableRequest } from "../../idempotency/repeatable-request.ts";

export const tags: readonly string[] = ["Webhooks"];
export const config = { access: ["vendor-developer", "operator"], waitsOnlyForDatabase: true } as const;

export const repeatHeaders = {
  type: "object",
  properties: {
    ...vendorHeaders.properties,
    ...idempotencyKey,
  },
} as const;

/** The vendor is as much of the address as the path: one key may serve two vendors of one caller. */
export function repeatable(request: FastifyRequest, { vendor }: ActingForVendor): Repeatable {
  return { ...repeatableRequest(request), path: `${pathOf(request)} of ${vendor}` };
}
