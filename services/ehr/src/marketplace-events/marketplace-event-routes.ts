import { otherReceivedEvent, receivedSubscriptionEvent, webhookAnswer } from "@ehr-marketplace/contracts";
import { addressCounted, answerOf, createSlots, Problem, rateCounter } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failureResponses, success } from "../answers.ts";
import { marketplaceEventProblems } from "./marketplace-event-errors.ts";
import { outcomes, type Receiving, receiveEvent } from "./receive-event.ts";
import { createVerifier, type Verified } from "./verify-event.ts";

const largestBody = 65_536;
const maxVerifying = 2;
const maxWaitingToVerify = 100;

export async function marketplaceEventRoutes(
  scope: FastifyInstance,
  options: Receiving & { seal: Seal; refusedSignaturesPerMinute: number },
): Promise<void> {
  for (const schema of [otherReceivedEvent, receivedSubscriptionEvent, webhookAnswer]) scope.addSchema(schema);
  const verify = createVerifier(options.database, options.seal, options.clock);
  const refusals = rateCounter(options.refusedSignaturesPerMinute);
  const slots = createSlots(maxVerifying, maxWaitingToVerify);
  const tooManyRefusals = (request: FastifyRequest): Problem | undefined =>
    refusals.exceeded(addressCounted(request.ip));
  // What is verified are bytes: parsed and written again, they would be others.
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  // Before the body is read. Only here can a good signature be refused, while bad ones fill all slots from its own address.
  scope.addHook("onRequest", (request, _reply, next) => next(slots.isFull() ? tooManyRefusals(request) : undefined));

  /**
   * All organisations' events may come from one address, such as a proxy's, so bad signatures from it don't refuse good ones. Beyond an
   * address's limit a signature is still verified, in slots that all such addresses share. That bounds the cost: at most two
   * verifications at once, each with one query by primary key, two decryptions, and one pass each of parser and HMAC over
   * at most 64 KiB; at most 100 such bodies wait in memory.
   */
  const verifiedFrom = async (request: FastifyRequest, reply: FastifyReply): Promise<Verified> => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const delivery = { body, signature: request.headers["x-marketplace-signature"] };
    const tooMany = tooManyRefusals(request);
    if (tooMany !== undefined && slots.isFull()) throw tooMany;
    const verified = await (tooMany === undefined ? verify(delivery) : slots.run(() => verify(delivery)));
    if (!("knownAlias" in verified)) return verified;
    refusals.count(addressCounted(request.ip));
    if (tooMany !== undefined) throw tooMany;
    const { knownAlias: orgAlias } = verified;
    // After the response: the time that a log line takes would tell the sender which organisations are known.
    reply.raw.once("finish", () => {
      if (orgAlias === undefined) return;
      options.logger.warn(
        { requestId: request.id, orgAlias },
        "refused the signature of an event; check that the marketplace has the same secret for this organisation",
      );
    });
    throw signatureRefused();
  };

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
          "For the marketplace. `X-Marketplace-Signature` is the HMAC-SHA256 of the body, keyed with the secret of the organisation that the body names. Whatever comes late, twice or out of order is answered 200 and changes nothing. Of the app only the slug is used: what it is, the marketplace's catalog says, and until that has confirmed it the app is not installed. Events of other kinds are answered 200 and ignored. 422: the organisation has as many subscriptions as events may create, or the event names another app than the one that the subscription is known with. Only refused signatures count toward a rate: beyond it they are 429, and good ones from the same address are still applied. 429 also where 52 changes of the organisation are under way at once. At most 64 KiB.",
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
      const verified = await verifiedFrom(request, reply);
      const outcome = await receiveEvent(options, verified, request.headers["x-marketplace-delivery-id"]);
      return reply.send(success(outcomes[outcome], null));
    },
  );
}

const signatureRefused = (): Problem =>
  new Problem(
    marketplaceEventProblems.signatureRefused,
    "No secret of the organisation that the body names made this signature of it.",
    { headers: { "www-authenticate": 'X-Marketplace-Signature realm="marketplace-webhook"' } },
  );
