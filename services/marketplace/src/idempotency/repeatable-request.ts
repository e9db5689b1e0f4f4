import type { FastifyRequest } from "fastify";
import type { Repeatable } from "./once.ts";

/** For the schema of a route that may be repeated. */
export const idempotencyKey = {
  "idempotency-key": {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description:
      "The same key and body get the same 2xx again, for 24 hours; the same key with another body is refused",
  },
} as const;

/** What 422 means on a route that has no other use for it. */
export const keyReusedMeaning = "The `Idempotency-Key` came with another body before";

export const pathOf = (request: FastifyRequest): string => request.url.split("?", 1)[0] ?? "";

export function repeatableRequest(request: FastifyRequest): Repeatable {
  return {
    key: request.headers["idempotency-key"] as string | undefined,
    method: request.method,
    path: pathOf(request),
    body: request.body,
  };
}
