import {
  readUsageQuery,
  reportUsageBody,
  subscriptionParams,
  usageDto,
  usageResults,
} from "@ehr-marketplace/contracts";
import { getCaller, limitCallers, problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { developerHeaders, vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { readRecords } from "./malformed-records.ts";
import { readUsage } from "./read-usage.ts";
import { reportUsage, type UsageDeps } from "./report-usage.ts";

/** 500 records of the greatest length. */
const maxBatchBytes = 256 * 1_024;

export async function usageRoutes(
  scope: FastifyInstance,
  { requestsPerMinute, ...options }: UsageDeps & { requestsPerMinute: number },
): Promise<void> {
  for (const schema of [usageResults, usageDto]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Usage"];

  routes.post(
    "/subscriptions/:id/usage",
    {
      // A vendor's service reports the usage of all practices.
      config: { access: ["vendor-developer", "operator"], isUnlimited: true },
      onRequest: limitCallers(scope, requestsPerMinute),
      bodyLimit: maxBatchBytes,
      // A malformed record is rejected like any other.
      attachValidation: true,
      schema: {
        tags,
        operationId: "reportUsage",
        summary: "Report usage of a metered app",
        description:
          "For the app's vendor: 1 to 500 records, at most 20 requests a second for each subscription. A record is known by its `id` and its day (UTC): sent again it counts once, however late, so repeat a request whose response you didn't get. Refused records, also malformed ones, are `rejected` with a reason, and don't hinder the others. Usage of a pause, or after the subscription was cancelled, is rejected. `{id, occurredAt, void: true}` takes a record back; its id stays used. Endpoints that select `usage.reported` are told of each batch in which a record was counted.",
        headers: vendorHeaders,
        params: subscriptionParams,
        body: reportUsageBody,
        response: {
          200: responseOf("What became of each record", "UsageResults"),
          ...problemResponses(401, 403, 404, 413, 415, {
            429: "Usage of the subscription was reported 20 times within a second; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    (request) => {
      const records = readRecords(request);
      return reportUsage(options, vendorContextOf(request), request.params.id, records);
    },
  );

  routes.get(
    "/subscriptions/:id/usage",
    {
      config: {
        access: ["org-member", "org-admin", "ehr-service", "vendor-developer", "billing", "auditor", "operator"],
      },
      schema: {
        tags,
        operationId: "readUsage",
        summary: "Read the usage of a subscription",
        description:
          "By hour, day or month in UTC, aggregated as the plan says: the sum, the number of records, the highest or the latest quantity. Buckets without usage are left out. For everyone who may read the subscription.",
        headers: developerHeaders,
        params: subscriptionParams,
        querystring: readUsageQuery,
        response: { 200: responseOf("The buckets that have usage", "UsageDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      readUsage(options, getCaller(request), request.params.id, request.headers["x-vendor-slug"], request.query),
  );
}
