import type { FastifyRequest } from "fastify";
import { type VendorContext, vendorHeaders } from "../access/vendor-context.ts";
import { idempotencyKeyHeader, idempotentRequestOf, pathOf } from "../idempotency/idempotent-request.ts";
import type { IdempotentRequest } from "../idempotency/run-idempotently.ts";

export const tags: readonly string[] = ["Webhooks"];
export const config = { access: ["vendor-developer", "operator"] } as const;

export const repeatHeaders = {
  type: "object",
  properties: {
    ...vendorHeaders.properties,
    ...idempotencyKeyHeader,
  },
} as const;

/** The path includes the vendor: one caller may use the same key for two vendors. */
export function repeatable(request: FastifyRequest, { vendor }: VendorContext): IdempotentRequest {
  return { ...idempotentRequestOf(request), path: `${pathOf(request)} of ${vendor}` };
}
