import {
  auditEntry,
  auditPage,
  type ListAuditQuery,
  listAuditQuery,
  organisationParams,
  type ReadAuditQuery,
  readAuditQuery,
} from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { listAudit, readAudit } from "./read-audit.ts";

export async function auditRoutes(scope: FastifyInstance, options: { database: Kysely<DB> }): Promise<void> {
  for (const schema of [auditEntry, auditPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const response = { 200: responseOf("Entries, the newest first", "AuditPage"), ...problemResponses(401, 403) };

  routes.get(
    "/organisations/:alias/audit",
    {
      config: { access: ["operator", "auditor", "org-admin"] },
      schema: {
        tags: ["Organisations"],
        operationId: "readAudit",
        summary: "Read an organisation's audit log",
        description:
          "Every change made on behalf of the organisation: actor, role, time, action, and the state before and after. Filters combine; `action` and `targetId` have to match exactly.",
        params: organisationParams,
        querystring: readAuditQuery,
        response,
      },
    },
    (request) => readAudit(options.database, getCaller(request), request.params.alias, request.query as ReadAuditQuery),
  );

  routes.get(
    "/admin/audit",
    {
      config: { access: ["operator", "auditor"] },
      schema: {
        tags: ["Organisations"],
        operationId: "listAudit",
        summary: "Read the whole audit log",
        description:
          "Every change for every organisation and vendor. Filters combine; `actor` and `action` have to match exactly.",
        querystring: listAuditQuery,
        response,
      },
    },
    (request) => listAudit(options.database, request.query as ListAuditQuery),
  );
}
