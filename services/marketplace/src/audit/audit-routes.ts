import { auditEntry, auditPage, organisationParams, type PageQuery, pageQuery } from "@ehr-marketplace/contracts";
import { answerOf, callerOf, problemResponses } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { readAudit } from "./read-audit.ts";

export async function auditRoutes(scope: FastifyInstance, options: { database: Kysely<DB> }): Promise<void> {
  for (const schema of [auditEntry, auditPage]) scope.addSchema(schema);
  scope.withTypeProvider<TypeBoxTypeProvider>().get(
    "/organisations/:alias/audit",
    {
      config: { access: ["operator", "org-admin"], waitsOnlyForDatabase: true },
      schema: {
        tags: ["Organisations"],
        operationId: "readAudit",
        summary: "Read an organisation's audit log",
        description: "Every change that concerns the organisation: who, as what, when, what, before and after.",
        params: organisationParams,
        querystring: pageQuery,
        response: {
          200: answerOf("Entries, the newest first", "AuditPage"),
          ...problemResponses(401, 403),
        },
      },
    },
    (request) => readAudit(options.database, callerOf(request), request.params.alias, request.query as PageQuery),
  );
}
