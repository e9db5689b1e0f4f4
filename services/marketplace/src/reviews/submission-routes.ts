import {
  listingParams,
  type PageQuery,
  pageQuery,
  revisionDto,
  revisionPage,
  revisionParams,
} from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import type { ListingDeps } from "../listings/create-listing.ts";
import { listingResponse } from "../listings/listing-responses.ts";
import { getRevision, listRevisions } from "./read-revisions.ts";
import { submitListing, withdrawListing } from "./submit-listing.ts";

/** What a vendor does with the revisions of its listings. */
export async function submissionRoutes(scope: FastifyInstance, options: ListingDeps): Promise<void> {
  for (const schema of [revisionDto, revisionPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Listings"];
  const config = { access: ["vendor-developer", "operator"] } as const;

  routes.post(
    "/developer/apps/:slug/submit",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        tags,
        operationId: "submitListing",
        summary: "Submit the draft for review",
        description:
          "Makes a revision of the draft, which never changes, and opens a review. The draft can be edited meanwhile, for the next revision.",
        headers: vendorHeaders,
        params: listingParams,
        response: {
          200: listingResponse("The listing as it is now"),
          ...problemResponses(401, 403, 404, 413, 415, {
            409: "A review is open already, or the vendor has too many open reviews",
            422: "The draft has errors; `errors` lists them",
            429: "The vendor has submitted 50 revisions within 24 hours, or too many requests; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const { etag, listing } = await submitListing(options, vendorContextOf(request), request.params.slug);
      return reply.header("etag", etag).send(listing);
    },
  );

  routes.post(
    "/developer/apps/:slug/withdraw",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        tags,
        operationId: "withdrawListing",
        summary: "Withdraw the submitted revision",
        description: "Ends the open review. The draft stays as it is.",
        headers: vendorHeaders,
        params: listingParams,
        response: {
          200: listingResponse("The listing as it is now"),
          ...problemResponses(401, 403, 404, 409, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const { etag, listing } = await withdrawListing(options, vendorContextOf(request), request.params.slug);
      return reply.header("etag", etag).send(listing);
    },
  );

  routes.get(
    "/developer/apps/:slug/revisions",
    {
      config,
      schema: {
        tags,
        operationId: "listRevisions",
        summary: "List the revisions of a listing",
        description: "Everything that was submitted, newest first, without the drafts. At most 100 a page.",
        headers: vendorHeaders,
        params: listingParams,
        querystring: pageQuery,
        response: { 200: responseOf("A page of revisions", "RevisionPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      listRevisions(options.database, vendorContextOf(request), request.params.slug, request.query as PageQuery),
  );

  routes.get(
    "/developer/apps/:slug/revisions/:revision",
    {
      config,
      schema: {
        tags,
        operationId: "getRevision",
        summary: "Get a revision",
        description: "The draft as it was submitted, and the reasons if it was rejected.",
        headers: vendorHeaders,
        params: revisionParams,
        response: { 200: responseOf("The revision", "RevisionDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getRevision(options, vendorContextOf(request), request.params),
  );
}
