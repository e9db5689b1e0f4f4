import { auditPage, auditResponse, type EhrAuditQuery, ehrAuditEntry, ehrAuditQuery } from "@ehr-marketplace/contracts";
import { responseOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { failureResponses, success } from "../responses.ts";
import { readAudit } from "./read-audit.ts";

export async function auditRoutes(
  scope: FastifyInstance,
  options: { database: Kysely<DB>; clock: () => Date },
): Promise<void> {
  for (const schema of [ehrAuditEntry, auditPage, auditResponse]) scope.addSchema(schema);
  scope.get<{ Querystring: EhrAuditQuery }>(
    "/admin/audit",
    {
      config: { access: ["operator", "auditor"] },
      schema: {
        tags: ["Operations"],
        operationId: "readAudit",
        summary: "Read the audit log",
        description:
          "Who set a secret or a configuration, read a decrypted configuration, redeemed a launch (granted or refused) or " +
          "requested a reconciliation. The newest entries come first. Filters are combined and match exactly. Entries contain no " +
          "patients, launches, secrets or values of configurations.",
        querystring: ehrAuditQuery,
        response: { 200: responseOf("A page of entries", "AuditResponse"), ...failureResponses(401, 403) },
      },
    },
    async (request, reply) =>
      reply.send(success("The audit log, the newest first.", await readAudit(options, request.query))),
  );
}
