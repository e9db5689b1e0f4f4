import {
  importBody,
  importResult,
  maxImportBytes,
  organisationDto,
  organisationPage,
  organisationParams,
  organisationProfile,
  type PageQuery,
  pageQuery,
  putOrganisationBody,
} from "@ehr-marketplace/contracts";
import {
  acceptNdjson,
  getCaller,
  importLines,
  importResponse,
  ndjsonMediaType,
  problemResponses,
  responseOf,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { createOrganisationImport } from "./import-organisations.ts";
import { type OrganisationDeps, putOrganisation } from "./put-organisation.ts";
import { getOrganisation, getProfile, listOrganisations } from "./read-organisations.ts";

export async function organisationRoutes(scope: FastifyInstance, options: OrganisationDeps): Promise<void> {
  for (const schema of [organisationDto, organisationPage, organisationProfile, importResult]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Organisations"];
  const config = { access: ["operator"] } as const;

  routes.put(
    "/admin/organisations/:alias",
    {
      config,
      schema: {
        tags,
        operationId: "putOrganisation",
        summary: "Register or change an organisation",
        description:
          "Replaces everything but the secret, which stays unless a new one is given, `timeZone`, which stays if omitted, and `kind` and `vendorSlug`, which never change. A generated secret is in this response only.",
        params: organisationParams,
        body: putOrganisationBody,
        response: {
          200: responseOf("The organisation as it is now", "OrganisationDto"),
          201: responseOf("The new organisation", "OrganisationDto"),
          ...problemResponses(401, 403, 413, 415, {
            409: "`kind` or `vendorSlug` differs from the organisation's, or the vendor has too many sandbox organisations",
            422: "`callbackUrl` can't be used, or `vendorSlug` is not a vendor",
          }),
        },
      },
    },
    async (request, reply) => {
      const { created, organisation } = await putOrganisation(
        options,
        requestContextOf(request),
        request.params.alias,
        request.body,
      );
      return reply.code(created ? 201 : 200).send(organisation);
    },
  );

  routes.get(
    "/admin/organisations/:alias",
    {
      config,
      schema: {
        tags,
        operationId: "getOrganisation",
        summary: "Get an organisation",
        description: "One organisation, without its secret.",
        params: organisationParams,
        response: { 200: responseOf("The organisation", "OrganisationDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getOrganisation(options.database, request.params.alias),
  );

  routes.get(
    "/admin/organisations",
    {
      config,
      schema: {
        tags,
        operationId: "listOrganisations",
        summary: "List organisations",
        description: "All organisations, by alias.",
        querystring: pageQuery,
        response: { 200: responseOf("A page of organisations", "OrganisationPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listOrganisations(options.database, request.query as PageQuery),
  );

  routes.get(
    "/organisations/:alias",
    {
      config: { access: ["org-member", "org-admin", "operator"] },
      schema: {
        tags,
        operationId: "getOrganisationProfile",
        summary: "Get one's own organisation",
        description:
          "How the organisation is registered, and whether its EHR takes the marketplace's events: for its people, and for operators. An operator changes it. Who its people are, its identity provider knows.",
        params: organisationParams,
        response: { 200: responseOf("The organisation", "OrganisationProfile"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getProfile(options.database, getCaller(request), request.params.alias),
  );

  await scope.register(importRoute, options);
}

async function importRoute(scope: FastifyInstance, options: OrganisationDeps): Promise<void> {
  acceptNdjson(scope);
  scope.withTypeProvider<TypeBoxTypeProvider>().post(
    "/admin/organisations/import",
    {
      bodyLimit: maxImportBytes,
      config: { access: ["operator"], acceptedMediaTypes: ndjsonMediaType },
      schema: {
        tags: ["Organisations"],
        operationId: "importOrganisations",
        summary: "Register or change up to 1,000 organisations",
        description:
          "Does for each line what `PUT /admin/organisations/{alias}` does, in one transaction. A line that is refused doesn't stop the others, and a line that changes nothing is `unchanged`, so the same request can be sent again. A line whose `alias` an earlier line has is refused.",
        consumes: [ndjsonMediaType],
        body: importBody(
          "`alias` and the fields of `PUT /admin/organisations/{alias}`, except `kind` and `vendorSlug`",
        ),
        response: { 200: importResponse, ...problemResponses(401, 403, 413, 415) },
      },
    },
    async (request, reply) => {
      const results = await importLines(createOrganisationImport(options, requestContextOf(request)), request.body);
      return reply.type(ndjsonMediaType).send(results);
    },
  );
}
