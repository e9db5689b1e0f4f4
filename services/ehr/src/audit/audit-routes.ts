import { auditAnswer, auditPage, type EhrAuditQuery, ehrAuditEntry, ehrAuditQuery } from "@ehr-marketplace/contracts";
import { answerOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import { failureResponses, success } from "../answers.ts";
import type { DB } from "../database-schema.ts";
import { readAudit } from "./read-audit.ts";

export async function auditRoutes(
  scope: FastifyInstance,
  options: { database: Kysely<DB>; clock: () => Date },
): Promise<void> {
  for (const schema of [ehrAuditEntry, auditPage, auditAnswer]) scope.addSchema(schema);
  scope.get<{ Querystring: EhrAuditQuery }>(
    "/admin/audit",
    {
      config: { access: ["operator", "auditor"], waitsOnlyForDatabase: true },
      schema: {
        tags: ["Operations"],
        operationId: "readAudit",
        summary: "Read the audit log",
        description:
          "Who set a secret or a configuration, read a decrypted configuration, redeemed a launch (granted or refused) or " +
          "requested a reconciliation. The newest first. Filters combine, and have to match exactly. Without patients, " +
          "launches, secrets and values of configurations.",
        querystring: ehrAuditQuery,
        response: { 200: answerOf("A page of entries", "AuditAnswer"), ...failureResponses(401, 403) },
      },
    },
    async (request, reply) =>
      reply.send(success("The audit log, the newest first.", await readAudit(options, request.query))),
  );
}
