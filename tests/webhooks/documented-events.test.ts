import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type SubscriptionDto, subscriptionEventNames, webhookEventNames } from "@ehr-marketplace/contracts";
import { loopbackNetworks } from "@ehr-marketplace/dev/service-environments";
import { createStrictAjv } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type Receiver, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

interface Webhook {
  operationId: string;
  parameters: { in: string; name: string; required: boolean; schema: object }[];
  requestBody: { content: Record<string, { schema: object; example?: unknown }> };
}

const sentHeaders = [
  "x-marketplace-event",
  "x-marketplace-delivery-id",
  "x-marketplace-signature",
  "x-marketplace-attempt",
  "x-marketplace-version",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
];

const app = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  iconUrl: "https://icons.example/northwind-scribe.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: null,
  fhirScopes: "launch",
};
const timestamp = "2026-03-18T09:30:00.000Z";
const aboutSubscription = (event: string, status: string, more: object = {}) => ({
  event,
  app,
  subscription: { id: app.id, status, orgAlias: "riverside-clinic", ...more },
  timestamp,
});
const payloads = [
  aboutSubscription("subscription.created", "active"),
  aboutSubscription("subscription.paused", "paused", { pauseReason: "SECURITY" }),
  aboutSubscription("subscription.resumed", "active"),
  aboutSubscription("subscription.updated", "active"),
  aboutSubscription("subscription.updated", "paused"),
  aboutSubscription("subscription.cancelled", "cancelled"),
  {
    ...aboutSubscription("usage.reported", "active"),
    usage: [{ metric: "notes", quantity: "12.5", from: timestamp, to: timestamp, recordCount: 3 }],
  },
  {
    ...aboutSubscription("connection.updated", "active"),
    connection: { status: "pending", clientId: null, fhirBaseUrl: null, reason: null },
  },
  { event: "app.updated", app, timestamp },
  { event: "ping", timestamp },
];

describe("the document's webhooks", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let webhooks: Record<string, { post: Webhook }>;
  let vendor: Receiver;
  const ajv = createStrictAjv({ allErrors: true, strict: false });

  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join() });
    const document = (await (await marketplace.get("/openapi.json")).json()) as { webhooks: typeof webhooks };
    ({ webhooks } = document);
    ajv.addSchema(document, "document");
    await startWorkerProcess(cleanUp, marketplace.database.serviceUrl);
    vendor = await startReceiver(cleanUp);
  });

  test("have a request for exactly the existing event types", () => {
    assert.deepEqual(Object.keys(webhooks).toSorted(), [...webhookEventNames].toSorted());
    const ids = Object.values(webhooks).map(({ post }) => post.operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  test("require all eight headers for every event, and accept only that event's payload", () => {
    for (const [name, { post }] of Object.entries(webhooks)) {
      const required = post.parameters.filter((each) => each.in === "header" && each.required);
      assert.deepEqual(
        required.map((each) => each.name.toLowerCase()),
        sentHeaders,
        name,
      );
      const path = `document#/webhooks/${name}/post/requestBody/content/application~1json/schema`;
      for (const payload of payloads) {
        assert.equal(ajv.validate({ $ref: path }, payload), payload.event === name, `${payload.event} as ${name}`);
      }
    }
  });

  test("have a valid example without empty fields for every event", () => {
    for (const [name, { post }] of Object.entries(webhooks)) {
      const example = post.requestBody.content["application/json"]?.example as { event: string } | undefined;
      const path = `document#/webhooks/${name}/post/requestBody/content/application~1json/schema`;
      assert.ok(ajv.validate({ $ref: path }, example), `${name}: ${ajv.errorsText()}`);
      assert.equal(example?.event, name);
      assert.doesNotMatch(JSON.stringify(example), /""|\[\]|null/, name);
    }
  });

  test("match the headers and payloads of delivered events", async () => {
    const developer = (path: string, body?: object): Promise<Response> =>
      marketplace.requestAs("northwind-developer", path, { method: "POST", ...(body === undefined ? {} : { body }) });
    const registered = await developer("/developer/webhooks", {
      url: `${vendor.url}/hooks`,
      secret: "a secret of documents",
      events: webhookEventNames,
    });
    const endpoint = ((await registered.json()) as { id: string }).id;
    await developer(`/developer/webhooks/${endpoint}/test`);
    const [plan] = await marketplace.plans("northwind-scribe");
    const operate = (path: string, body?: object): Promise<Response> =>
      marketplace.requestAs("operator", path, { method: "POST", ...(body === undefined ? {} : { body }) });
    const subscription = { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId: plan?.id };
    const { id } = (await (await operate("/subscriptions", subscription)).json()) as SubscriptionDto;
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("update apps set fhir_scopes = 'launch patient/Device.rs' where slug = 'northwind-scribe'"),
    );
    const agreement = { body: { fhirScopes: "launch patient/Device.rs" } };
    await marketplace.requestAs("riverside-admin", `/subscriptions/${id}/consent`, agreement);
    const connection = {
      method: "PUT",
      body: { status: "pending", reason: "An operator has to register the client." },
    };
    await marketplace.requestAs("ehr-service", `/subscriptions/${id}/connection`, connection);
    await operate(`/subscriptions/${id}/pause`, { reason: "SECURITY" });
    await operate(`/subscriptions/${id}/resume`);
    await operate(`/subscriptions/${id}/cancel`);
    await eventually("all of them arrive", 20_000, () => vendor.received.length >= 7);

    const names = vendor.received.map(({ event }) => event.event as string);
    assert.deepEqual(names.toSorted(), [...subscriptionEventNames, "connection.updated", "ping"].toSorted());
    for (const { event, headers } of vendor.received) {
      const { post } = webhooks[event.event] ?? assert.fail(event.event);
      const path = `document#/webhooks/${event.event}/post/requestBody/content/application~1json/schema`;
      assert.ok(ajv.validate({ $ref: path }, event), `${event.event}: ${ajv.errorsText()}`);
      const other = event.event === "subscription.created" ? "subscription.cancelled" : "subscription.created";
      const otherPath = `document#/webhooks/${other}/post/requestBody/content/application~1json/schema`;
      assert.ok(!ajv.validate({ $ref: otherPath }, event), `${event.event} is no ${other}`);
      for (const { name, required, schema: headerSchema } of post.parameters) {
        const value = headers[name.toLowerCase()];
        if (!required && value === undefined) continue;
        assert.ok(ajv.validate(headerSchema, value), `${name}: ${String(value)}: ${ajv.errorsText()}`);
      }
      const documented = new Set(post.parameters.map(({ name }) => name.toLowerCase()));
      const ours = Object.keys(headers).filter((name) => /^(x-marketplace|webhook)-/.test(name));
      assert.deepEqual(
        ours.filter((name) => !documented.has(name)),
        [],
      );
    }
  });
});
