import {
  type ListAllSubscriptionsQuery,
  type ListVendorSubscriptionsQuery,
  listAllSubscriptionsQuery,
  listVendorSubscriptionsQuery,
  subscriptionPage,
} from "@ehr-marketplace/contracts";
import { problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { listAllSubscriptions, listVendorSubscriptions } from "./list-subscriptions.ts";

/** Lists across organisations. `GET /subscriptions` lists those of one organisation. */
export function subscriptionListRoutes(scope: FastifyInstance, { database }: { database: Kysely<DB> }): void {
  scope.addSchema(subscriptionPage);
  const tags = ["Subscriptions"];
  const response = {
    200: responseOf("A page of subscriptions, the newest first", "SubscriptionPage"),
    ...problemResponses(401, 403),
  };

  scope.get(
    "/developer/subscriptions",
    {
      config: { access: ["vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "listVendorSubscriptions",
        summary: "List the subscriptions to a vendor's apps",
        description: "Of all organisations, cancelled ones included. Filters combine.",
        headers: vendorHeaders,
        querystring: listVendorSubscriptionsQuery,
        response,
      },
    },
    (request) =>
      listVendorSubscriptions(database, vendorContextOf(request), request.query as ListVendorSubscriptionsQuery),
  );

  scope.get(
    "/admin/subscriptions",
    {
      config: { access: ["operator", "billing", "auditor"] },
      schema: {
        tags,
        operationId: "listAllSubscriptions",
        summary: "List all subscriptions",
        description: "Of all organisations to all apps, cancelled ones included. Filters combine.",
        querystring: listAllSubscriptionsQuery,
        response,
      },
    },
    (request) => listAllSubscriptions(database, request.query as ListAllSubscriptionsQuery),
  );
}
