import { otherReceivedEvent, receivedSubscriptionEvent, webhookAnswer } from "@ehr-marketplace/contracts";
import { addressCounted, answerOf, Problem, rateCounter } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { FastifyInstance } from "fastify";
import { failureResponses, success } from "../answers.ts";
import { marketplaceEventProblems } from "./marketplace-event-errors.ts";
import { outcomes, type Receiving, receiveEvent } from "./receive-event.ts";
import { createVerifier } from "./verify-event.ts";

const largestBody = 65_536;

export async function marketplaceEventRoutes(
  scope: FastifyInstance,
  options: Receiving & { seal: Seal; refusedSignaturesPerMinute: number },
): Promise<void> {
  for (const schema of [otherReceivedEvent, receivedSubscriptionEvent, webhookAnswer]) scope.addSchema(schema);
  const verify = createVerifier(options.database, options.seal, options.clock);
  const refusals = rateCounter(options.refusedSignaturesPerMinute);
  // What is verified are bytes: parsed and written again, they would be others.
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  scope.addHook("onRequest", (request, _reply, next) => next(refusals.exceeded(addressCounted(request.ip))));

  scope.post(
    "/internal/marketplace-webhook",
    {
      bodyLimit: largestBody,
      config: { access: "anyone", waitsOnlyForDatabase: true },
      // The body is looked at only once it is verified.
      validatorCompiler: () => () => true,
      schema: {
        tags: ["Internal"],
        operationId: "receiveEvent",
        summary: "Tell what happened to a subscription",
        description:
          "For the marketplace. `X-Marketplace-Signature` is the HMAC-SHA256 of the body, keyed with the secret of the organisation that the body names. Whatever comes late, twice or out of order is answered 200 and changes nothing. Of the app only the slug is used: what it is, the marketplace's catalog says, and until that has confirmed it the app is not installed. Events of other kinds are answered 200 and ignored. 422: the organisation has as many subscriptions as events may create, or the event names another app than the one that the subscription is known with. Only refused signatures count toward a rate. At most 64 KiB.",
        headers: {
          type: "object",
          properties: {
            "x-marketplace-signature": { type: "string", maxLength: 64, description: "Lower-case hexadecimal digits" },
            "x-marketplace-delivery-id": { type: "string", maxLength: 255, description: "The same at every attempt" },
          },
          required: ["x-marketplace-signature", "x-marketplace-delivery-id"],
        },
        body: { anyOf: [{ $ref: "ReceivedSubscriptionEvent#" }, { $ref: "OtherReceivedEvent#" }] },
        response: {
          200: answerOf("Applied, or nothing had to be", "WebhookAnswer"),
          ...failureResponses(413, 415, {
            401: "No secret of the organisation that the body names made the signature",
            422: "The organisation has too many subscriptions, or the subscription is known with another app",
            429: "Too many refused signatures from this address; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const verified = await verify({
        body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        signature: request.headers["x-marketplace-signature"],
      });
      if (verified === undefined) {
        refusals.count(addressCounted(request.ip));
        throw new Problem(
          marketplaceEventProblems.signatureRefused,
          "No secret of the organisation that the body names made this signature of it.",
          { headers: { "www-authenticate": 'X-Marketplace-Signature realm="marketplace-webhook"' } },
        );
      }
      const outcome = await receiveEvent(options, verified, request.headers["x-marketplace-delivery-id"]);
      return reply.send(success(outcomes[outcome], null));
    },
  );
}
