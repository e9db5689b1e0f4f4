import {
  createListingBody,
  listingDraft,
  listingPage,
  listingParams,
  type PageQuery,
  pageQuery,
} from "@ehr-marketplace/contracts";
import {
  acceptMergePatch,
  etagPattern,
  problemResponses,
  requireIfMatch,
  requireNoBody,
  responseOf,
  withOptionalNulls,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { pathOf } from "../idempotency/idempotent-request.ts";
import { republishListing, unpublishListing } from "./change-listing.ts";
import { checkListing } from "./check-listing.ts";
import { createListing, type ListingDeps } from "./create-listing.ts";
import { deleteDraft } from "./delete-draft.ts";
import { editDraft, maxDraftBytes } from "./edit-draft.ts";
import { listingEtag, listingResponse } from "./listing-responses.ts";
import { getListing, listListings } from "./read-listings.ts";

const tags = ["Listings"];
const config = { access: ["vendor-developer", "operator"] } as const;

const deleted: object = { description: "The listing is deleted", type: "null" };

/** Any object: the draft that the patch makes is validated. */
const mergePatchBody = Type.Object({}, { additionalProperties: true });

/** A draft whose fields may be null, for the API reference. */
const listingPatch = {
  ...withOptionalNulls(listingDraft as object),
  $id: "ListingPatch",
  title: "ListingPatch",
  examples: [{ summary: "Notes that write themselves", websiteUrl: null }],
};

const ifMatchHeaders = {
  type: "object",
  properties: {
    ...vendorHeaders.properties,
    "if-match": {
      type: "string",
      maxLength: 100,
      pattern: etagPattern,
      description: "The `ETag` of the listing that was read",
      examples: ['"1"'],
    },
  },
  required: ["if-match"],
} as const;

export async function listingRoutes(scope: FastifyInstance, options: ListingDeps): Promise<void> {
  acceptMergePatch(scope);
  scope.addSchema(listingPage);
  // Added in a scope without routes, because Fastify compiles all schemas of a scope for each response of its routes.
  await scope.register(async (inner) => {
    inner.addSchema(listingPatch);
  });
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/developer/apps",
    {
      config,
      schema: {
        tags,
        operationId: "createListing",
        summary: "Begin a listing",
        description: "Reserves the slug, with a draft that has a name only. Nobody but the vendor sees it.",
        headers: vendorHeaders,
        body: createListingBody,
        response: {
          201: {
            ...responseOf("The new listing", "ListingDto"),
            headers: { etag: listingEtag, location: { type: "string", description: "The listing's URL" } },
          },
          ...problemResponses(401, 403, 413, 415, {
            409: "The slug is taken, or the vendor has too many listings",
            422: "The vendor is not registered",
          }),
        },
      },
    },
    async (request, reply) => {
      const { etag: tag, listing } = await createListing(options, vendorContextOf(request), request.body);
      const location = `${pathOf(request)}/${listing.slug}`;
      return reply.code(201).headers({ etag: tag, location }).send(listing);
    },
  );

  routes.get(
    "/developer/apps",
    {
      config,
      schema: {
        tags,
        operationId: "listListings",
        summary: "List the vendor's listings",
        description: "All listings of the vendor without their drafts, oldest first. At most 100 a page.",
        headers: vendorHeaders,
        querystring: pageQuery,
        response: { 200: responseOf("A page of listings", "ListingPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listListings(options.database, vendorContextOf(request), request.query as PageQuery),
  );

  routes.get(
    "/developer/apps/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "getListing",
        summary: "Get a listing",
        description: "The listing with its draft.",
        headers: vendorHeaders,
        params: listingParams,
        response: { 200: listingResponse("The listing"), ...problemResponses(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { etag: tag, listing } = await getListing(options, vendorContextOf(request), request.params.slug);
      return reply.header("etag", tag).send(listing);
    },
  );

  routes.patch(
    "/developer/apps/:slug",
    {
      bodyLimit: maxDraftBytes,
      onRequest: requireIfMatch,
      config: { ...config, documentedBody: { $ref: "ListingPatch#" } },
      schema: {
        tags,
        operationId: "editDraft",
        summary: "Change the draft",
        description:
          "Applies a JSON Merge Patch (RFC 7396) to the draft: fields that are absent stay, null removes a field, and lists are replaced as a whole. A draft may be incomplete; `check` says what it lacks. Nothing public changes before a reviewer approves it.",
        headers: ifMatchHeaders,
        params: listingParams,
        body: mergePatchBody,
        consumes: ["application/merge-patch+json", "application/json"],
        response: {
          200: listingResponse("The listing as it is now"),
          ...problemResponses(401, 403, 404, 412, 413, 415, 428),
        },
      },
    },
    async (request, reply) => {
      const { etag: tag, listing } = await editDraft(options, vendorContextOf(request), {
        slug: request.params.slug,
        patch: request.body,
        ifMatch: request.headers["if-match"],
      });
      return reply.header("etag", tag).send(listing);
    },
  );

  routes.delete(
    "/developer/apps/:slug",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        tags,
        operationId: "deleteDraft",
        summary: "Delete what was never submitted",
        description:
          "Can't be undone. The draft's files are deleted too. Its slug is free again, unless the draft was installed in a sandbox organisation: EHRs know that app by its slug.",
        headers: vendorHeaders,
        params: listingParams,
        response: {
          204: deleted,
          ...problemResponses(401, 403, 404, 413, 415, {
            409: "The listing was submitted, or its draft is installed in a sandbox organisation",
          }),
        },
      },
    },
    async (request, reply) => {
      await deleteDraft(options, vendorContextOf(request), request.params.slug);
      return reply.code(204).send();
    },
  );

  routes.get(
    "/developer/apps/:slug/check",
    {
      config,
      schema: {
        tags,
        operationId: "checkListing",
        summary: "Check the draft",
        description: "Every problem at once. Errors prevent a submission; warnings are shown to reviewers.",
        headers: vendorHeaders,
        params: listingParams,
        response: { 200: responseOf("The problems", "ListingCheck"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => checkListing(options, vendorContextOf(request), request.params.slug),
  );

  for (const { action, operationId, summary, description, run } of [
    {
      action: "unpublish",
      operationId: "unpublishListing",
      summary: "Take the app out of the catalog",
      description: "Nobody can subscribe to it any more. Its subscribers keep it.",
      run: unpublishListing,
    },
    {
      action: "republish",
      operationId: "republishListing",
      summary: "Put the app back into the catalog",
      description: "Shows the published revision again.",
      run: republishListing,
    },
  ]) {
    routes.post(
      `/developer/apps/:slug/${action}`,
      {
        preValidation: requireNoBody,
        config,
        schema: {
          tags,
          operationId,
          summary,
          description,
          headers: vendorHeaders,
          params: listingParams,
          response: {
            200: listingResponse("The listing as it is now"),
            ...problemResponses(401, 403, 404, 409, 413, 415, {
              429: "The app was republished within the last 10 seconds, or too many requests; try again after `Retry-After` seconds",
            }),
          },
        },
      },
      async (request, reply) => {
        const { etag: tag, listing } = await run(options, vendorContextOf(request), request.params.slug);
        return reply.header("etag", tag).send(listing);
      },
    );
  }
}
