import {
  approveReviewBody,
  type ListReviewsQuery,
  listReviewsQuery,
  rejectReviewBody,
  reviewDto,
  reviewPage,
  reviewParams,
} from "@ehr-marketplace/contracts";
import { problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { approveReview, type ReviewDeps, rejectReview } from "./decide-review.ts";
import { getReview, listReviews } from "./read-reviews.ts";

/** Thirty reasons of 2,000 characters, in any language. */
const maxRejectionBytes = 256 * 1_024;

export async function reviewRoutes(scope: FastifyInstance, options: ReviewDeps): Promise<void> {
  for (const schema of [reviewDto, reviewPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Reviews"];
  const config = { access: ["operator"] } as const;

  routes.get(
    "/admin/reviews",
    {
      config,
      schema: {
        tags,
        operationId: "listReviews",
        summary: "List reviews",
        description: "The open reviews unless `status` says otherwise, oldest first.",
        querystring: listReviewsQuery,
        response: { 200: responseOf("A page of reviews", "ReviewPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listReviews(options.database, request.query as ListReviewsQuery),
  );

  routes.get(
    "/admin/reviews/:id",
    {
      config,
      schema: {
        tags,
        operationId: "getReview",
        summary: "Get a review",
        description:
          "The revision with its differences to the public one, field by field, and its problems. The notes for reviewers are shown while it is open.",
        params: reviewParams,
        response: { 200: responseOf("The review", "ReviewDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getReview(options, request.params.id),
  );

  const decided = responseOf("The review as it is now", "ReviewDto");

  routes.post(
    "/admin/reviews/:id/approve",
    {
      config: { ...config, bodyMayBeOmitted: true },
      schema: {
        tags,
        operationId: "approveReview",
        summary: "Approve a revision",
        description:
          "Publishes the revision: the catalog shows it at once, its new plans are on sale, and the vendor's endpoints that select `app.updated` receive it. Nobody approves what they edited themselves.",
        params: reviewParams,
        body: approveReviewBody,
        response: {
          200: decided,
          ...problemResponses(401, 404, 413, 415, {
            403: "The caller is not allowed to do this, or edited the revision",
            409: "The review is not open, or the revision can't be published any more",
          }),
        },
      },
    },
    (request) => approveReview(options, requestContextOf(request), request.params.id, request.body),
  );

  routes.post(
    "/admin/reviews/:id/reject",
    {
      bodyLimit: maxRejectionBytes,
      config,
      schema: {
        tags,
        operationId: "rejectReview",
        summary: "Reject a revision",
        description: "Returns the revision to its vendor with reasons, one per field. What is public stays.",
        params: reviewParams,
        body: rejectReviewBody,
        response: { 200: decided, ...problemResponses(401, 403, 404, 409, 413, 415) },
      },
    },
    (request) => rejectReview(options, requestContextOf(request), request.params.id, request.body),
  );
}
