import {
  importBody,
  importResult,
  maxImportBytes,
  type PageQuery,
  pageQuery,
  putVendorBody,
  vendorDto,
  vendorPage,
  vendorParams,
} from "@ehr-marketplace/contracts";
import {
  acceptNdjson,
  importLines,
  importResponse,
  ndjsonMediaType,
  problemResponses,
  responseOf,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { createVendorImport } from "./import-vendors.ts";
import { putVendor, type VendorDeps } from "./put-vendor.ts";
import { getVendor, listVendors } from "./read-vendors.ts";

export async function vendorRoutes(scope: FastifyInstance, options: VendorDeps): Promise<void> {
  for (const schema of [vendorDto, vendorPage, importResult]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Vendors"];
  const config = { access: ["operator"] } as const;

  routes.put(
    "/admin/vendors/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "putVendor",
        summary: "Register or change a vendor",
        description: "Replaces everything but the slug. The vendor's apps show a new name and site at once.",
        params: vendorParams,
        body: putVendorBody,
        response: {
          200: responseOf("The vendor as it is now", "VendorDto"),
          201: responseOf("The new vendor", "VendorDto"),
          ...problemResponses(401, 403, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const { created, vendor } = await putVendor(
        options,
        requestContextOf(request),
        request.params.slug,
        request.body,
      );
      return reply.code(created ? 201 : 200).send(vendor);
    },
  );

  routes.get(
    "/admin/vendors/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "getVendor",
        summary: "Get a vendor",
        description: "One vendor.",
        params: vendorParams,
        response: { 200: responseOf("The vendor", "VendorDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getVendor(options.database, request.params.slug),
  );

  routes.get(
    "/admin/vendors",
    {
      config,
      schema: {
        tags,
        operationId: "listVendors",
        summary: "List vendors",
        description: "All vendors, by slug.",
        querystring: pageQuery,
        response: { 200: responseOf("A page of vendors", "VendorPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listVendors(options.database, request.query as PageQuery),
  );

  await scope.register(importRoute, options);
}

async function importRoute(scope: FastifyInstance, options: VendorDeps): Promise<void> {
  acceptNdjson(scope);
  scope.withTypeProvider<TypeBoxTypeProvider>().post(
    "/admin/vendors/import",
    {
      bodyLimit: maxImportBytes,
      config: { access: ["operator"], acceptedMediaTypes: ndjsonMediaType },
      schema: {
        tags: ["Vendors"],
        operationId: "importVendors",
        summary: "Register or change up to 1,000 vendors",
        description:
          "Does for each line what `PUT /admin/vendors/{slug}` does, in one transaction. A line that is refused doesn't stop the others, and a line that changes nothing is `unchanged`, so the same request can be sent again. A line whose `slug` an earlier line has is refused.",
        consumes: [ndjsonMediaType],
        body: importBody("`slug` and the fields of `PUT /admin/vendors/{slug}`"),
        response: { 200: importResponse, ...problemResponses(401, 403, 413, 415) },
      },
    },
    async (request, reply) => {
      const results = await importLines(createVendorImport(options, requestContextOf(request)), request.body);
      return reply.type(ndjsonMediaType).send(results);
    },
  );
}
