import { callerOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyRequest } from "fastify";
import type { Asked } from "./role-for.ts";

export const askedBy = (request: FastifyRequest): Asked => ({ caller: callerOf(request), requestId: request.id });
