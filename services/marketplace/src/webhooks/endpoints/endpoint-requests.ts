import { withoutNul } from "@ehr-marketplace/contracts";
import { callerOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyRequest } from "fastify";
import type { Repeatable } from "../../idempotency/once.ts";
import { type ActingForVendor, actingForVendor } from "./acting-for-vendor.ts";

export const tags: readonly string[] = ["Webhooks"];
export const config = { access: ["vendor-developer", "operator"], waitsOnlyForDatabase: true } as const;

export const vendorHeaders = {
  type: "object",
  properties: {
    "x-vendor-slug": {
      type: "string",
      pattern: withoutNul,
      description: "The vendor you act for: needed by operators, and by developers of several vendors",
    },
  },
} as const;

export const repeatHeaders = {
  type: "object",
  properties: {
    ...vendorHeaders.properties,
    "idempotency-key": {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description:
        "The same key and body get the same 2xx again, for 24 hours; the same key with another body is refused",
    },
  },
} as const;

export const answer = (description: string, name: string): object => ({
  description,
  content: { "application/json": { schema: { $ref: `${name}#` } } },
});

export const pathOf = (request: FastifyRequest): string => request.url.split("?", 1)[0] ?? "";

export function actingIn(request: FastifyRequest): ActingForVendor {
  const named = request.headers["x-vendor-slug"] as string | undefined;
  return actingForVendor({ caller: callerOf(request), requestId: request.id }, named);
}

/** The vendor is as much of the address as the path: one key may serve two vendors of one caller. */
export function repeatable(request: FastifyRequest, { vendor }: ActingForVendor): Repeatable {
  return {
    key: request.headers["idempotency-key"] as string | undefined,
    method: request.method,
    path: `${pathOf(request)} of ${vendor}`,
    body: request.body,
  };
}
