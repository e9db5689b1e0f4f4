import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { createStrictAjv } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { eventOf, send } from "./events.test-support.ts";

const schemaOfBody =
  "document#/paths/~1internal~1marketplace-webhook/post/requestBody/content/application~1json/schema";

describe("the OpenAPI schema of a received event accepts the same events as the receiver", () => {
  const cleanUp = cleanUpAfter();
  const ajv = createStrictAjv({ strict: false });
  let url: string;

  before(async () => {
    ({ url } = await startEhr(cleanUp, (await cloneDatabase(cleanUp, "ehr")).serviceUrl));
    ajv.addSchema((await (await fetch(`${url}/api/openapi.json`)).json()) as object, "document");
  });
  const isDocumented = (body: unknown): boolean => ajv.validate({ $ref: schemaOfBody }, body);

  const event = eventOf({ what: "created", id: randomUUID(), at: Date.UTC(2026, 2, 18) });
  const { app, subscription, timestamp } = event;
  const { id, status, orgAlias } = subscription;

  const accepted: Record<string, object> = {
    "an event as the marketplace sends it": event,
    "only the fields that are used": {
      event: event.event,
      app: { slug: app.slug },
      subscription: { id, status, orgAlias },
      timestamp,
    },
    "unknown fields at every depth": {
      ...event,
      more: { of: [1] },
      app: { ...app, rating: 5 },
      subscription: { ...subscription, quantity: 3 },
    },
    "fields of the app in another form": {
      ...event,
      app: { slug: app.slug, id: 7, name: null, iconUrl: "not a url", smartLaunchUrl: 1, extensionPoints: "x" },
    },
    "a reason of a pause in another form": { ...event, subscription: { ...subscription, pauseReason: { a: 1 } } },
    "an id in upper case": { ...event, subscription: { ...subscription, id: id.toUpperCase() } },
    "a time without milliseconds": { ...event, timestamp: "2026-03-18T09:30:00Z" },
    "a time with an offset of zero": { ...event, timestamp: "2026-03-18T09:30:00.123456+00:00" },
    "an unknown event": { ...event, event: "subscription.transferred" },
    "a slug of 64 characters": {
      ...event,
      app: { ...app, slug: "a".repeat(64) },
      subscription: { ...subscription, id: randomUUID() },
    },
    "an unknown event with nothing but its organisation": { event: "usage.reported", subscription: { orgAlias } },
  };
  for (const [what, body] of Object.entries(accepted)) {
    test(`both accept ${what}`, async () => {
      const response = await send(url, { body });
      assert.equal(response.status, 200, response.message);
      assert.ok(isDocumented(body), ajv.errorsText());
    });
  }

  const refused: Record<string, object> = {
    "no event": { ...event, event: undefined },
    "no app": { ...event, app: undefined },
    "an app without a slug": { ...event, app: { ...app, slug: undefined } },
    "a slug of 65 characters": { ...event, app: { ...app, slug: "a".repeat(65) } },
    "a subscription without an id": { ...event, subscription: { ...subscription, id: undefined } },
    "an unknown status": { ...event, subscription: { ...subscription, status: "asleep" } },
    "no time": { ...event, timestamp: undefined },
    "a time in another zone": { ...event, timestamp: "2026-03-18T09:30:00+02:00" },
  };
  for (const [what, body] of Object.entries(refused)) {
    test(`both reject ${what}`, async () => {
      assert.equal((await send(url, { body })).status, 400);
      assert.ok(!isDocumented(JSON.parse(JSON.stringify(body))));
    });
  }
});
