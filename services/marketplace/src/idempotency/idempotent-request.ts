import type { FastifyRequest } from "fastify";
import type { IdempotentRequest } from "./run-idempotently.ts";

/** Header schema for routes that accept an idempotency key. */
export const idempotencyKeyHeader = {
  "idempotency-key": {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description:
      "For 24 hours, a repeated request with the same key and body gets the same 2xx response; the same key with another body is refused",
  },
} as const;

/** Description of 422 for routes that return it for no other reason. */
export const keyReusedDescription = "The `Idempotency-Key` was used with another body";

export const pathOf = (request: FastifyRequest): string => request.url.split("?", 1)[0] ?? "";

export function idempotentRequestOf(request: FastifyRequest): IdempotentRequest {
  return {
    key: request.headers["idempotency-key"] as string | undefined,
    method: request.method,
    path: pathOf(request),
    body: request.body,
  };
}
