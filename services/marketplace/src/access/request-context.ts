import { getCaller } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";

/** The caller and the request's id. Every use case that writes gets it, for access checks and the audit log. */
export interface RequestContext {
  caller: Caller;
  requestId: string;
}

export const requestContextOf = (request: FastifyRequest): RequestContext => ({
  caller: getCaller(request),
  requestId: request.id,
});
