import { otherReceivedEvent, receivedSubscriptionEvent, webhookResponse } from "@ehr-marketplace/contracts";
import { createRateCounter, createTaskLimiter, Problem, responseOf } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failureResponses, success } from "../responses.ts";
import { marketplaceEventProblems } from "./marketplace-event-errors.ts";
import { type EventDeps, outcomes, receiveEvent } from "./receive-event.ts";
import { createVerifier, type VerifiedEvent } from "./verify-event.ts";

const maxBodyBytes = 65_536;
const maxVerifying = 2;
const maxWaitingToVerify = 100;

export async function marketplaceEventRoutes(
  scope: FastifyInstance,
  options: EventDeps & { encryption: Encryption; refusedSignaturesPerMinute: number },
): Promise<void> {
  for (const schema of [otherReceivedEvent, receivedSubscriptionEvent, webhookResponse]) scope.addSchema(schema);
  const verify = createVerifier(options.database, options.encryption, options.clock);
  const refusals = createRateCounter(scope, {
    perMinute: options.refusedSignaturesPerMinute,
    detail: "Too many invalid signatures were sent from this address.",
  });
  const verifications = createTaskLimiter(maxVerifying, maxWaitingToVerify);
  // The signature is over the exact bytes, so the body is not parsed here.
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  // Runs before the body is read. Only here can a valid signature be refused: while invalid ones from the same address fill all slots.
  scope.addHook("onRequest", async (request) => {
    const tooMany = verifications.isFull() ? await refusals.check(request) : undefined;
    if (tooMany !== undefined) throw tooMany;
  });

  /**
   * Events of all organisations may come from one address, such as a proxy's, so invalid signatures from it must not cause valid ones to be
   * refused. Beyond an address's limit signatures are still verified, in slots that all such addresses share. That bounds the cost: at most
   * two verifications at once, each with one query by primary key, two decryptions, and one pass each of parser and HMAC over at most 64 KiB;
   * at most 100 such bodies wait in memory.
   */
  const verifyRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<VerifiedEvent> => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const delivery = { body, signature: request.headers["x-marketplace-signature"] };
    const tooMany = await refusals.check(request);
    if (tooMany !== undefined && verifications.isFull()) throw tooMany;
    const verified = await (tooMany === undefined ? verify(delivery) : verifications.run(() => verify(delivery)));
    if (!("knownAlias" in verified)) return verified;
    await refusals.count(request);
    if (tooMany !== undefined) throw tooMany;
    const { knownAlias: orgAlias } = verified;
    // Logged after the response: the time of logging would otherwise tell the sender which organisations are known.
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
      bodyLimit: maxBodyBytes,
      config: { access: "anyone" },
      // The body is validated only after its signature is verified.
      validatorCompiler: () => () => true,
      schema: {
        tags: ["Internal"],
        operationId: "receiveEvent",
        summary: "Receive a subscription event",
        description:
          "For the marketplace. `X-Marketplace-Signature` is the HMAC-SHA256 of the body, keyed with the secret of the organisation that the body names. Late, repeated and out-of-order events are accepted with 200 and change nothing. Of the app only the slug and the agreed scopes are used: its other fields come from the marketplace's catalog, and until that has confirmed the app, it is not installed. Scopes that the catalog doesn't give the app have no effect. Unknown events are accepted with 200 and ignored. 422: the organisation has reached the limit of subscriptions that events can create, or the event names another app than the stored subscription. Only invalid signatures count toward the rate limit: beyond it they are 429, and valid ones from the same address are still applied. 429 also if 52 changes of the organisation are in progress. At most 64 KiB.",
        headers: {
          type: "object",
          properties: {
            "x-marketplace-signature": { type: "string", maxLength: 64, description: "Lower-case hexadecimal digits" },
            "x-marketplace-delivery-id": {
              type: "string",
              maxLength: 255,
              description: "The delivery's id, the same at every attempt",
            },
          },
          required: ["x-marketplace-signature", "x-marketplace-delivery-id"],
        },
        body: { anyOf: [{ $ref: "ReceivedSubscriptionEvent#" }, { $ref: "OtherReceivedEvent#" }] },
        response: {
          200: responseOf("Applied, or nothing had to be", "WebhookResponse"),
          ...failureResponses(413, 415, {
            401: "The signature doesn't match any secret of the organisation that the body names",
            422: "The organisation has too many subscriptions, or the subscription is stored with another app",
            429: "Too many invalid signatures from this address; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const verified = await verifyRequest(request, reply);
      const outcome = await receiveEvent(options, verified, request.headers["x-marketplace-delivery-id"]);
      return reply.send(success(outcomes[outcome], null));
    },
  );
}

const signatureRefused = (): Problem =>
  new Problem(
    marketplaceEventProblems.signatureRefused,
    "The signature doesn't match any secret of the organisation that the body names.",
    { headers: { "www-authenticate": 'X-Marketplace-Signature realm="marketplace-webhook"' } },
  );
