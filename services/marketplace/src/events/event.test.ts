import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type SubscriptionEventName, subscriptionEventNames } from "@ehr-marketplace/contracts";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import fc from "fast-check";
import { nextInstant, payloadOf, type SubscriptionChange } from "./event.ts";

const change: SubscriptionChange = {
  event: "subscription.created",
  app: {
    id: "01890a5d-ac96-774b-bcce-b302099a8057",
    slug: "resume-clair",
    name: 'Résumé "Clair"',
    iconUrl: "https://icons.example/clair.svg",
    category: "DOCUMENTATION",
    extensionPoints: ["note-panel", "cds:order-sign"],
    smartLaunchUrl: null,
    fhirScopes: "launch user/Patient.rs",
  },
  subscription: { id: "01890a5d-ac96-774b-bcce-b302099a8058", status: "active", orgAlias: "riverside-clinic" },
  pauseReason: null,
  organisationId: "01890a5d-ac96-774b-bcce-b302099a8059",
  vendorId: "01890a5d-ac96-774b-bcce-b302099a805a",
  sequence: 1,
  occurredAt: new Date("2026-03-18T09:30:00.007Z"),
};

describe("the payload of an event", () => {
  test("has exactly these bytes", () => {
    assert.equal(
      payloadOf(change),
      '{"event":"subscription.created","app":{"id":"01890a5d-ac96-774b-bcce-b302099a8057","slug":"resume-clair",' +
        '"name":"Résumé \\"Clair\\"","iconUrl":"https://icons.example/clair.svg","category":"DOCUMENTATION",' +
        '"extensionPoints":["note-panel","cds:order-sign"],"smartLaunchUrl":null,"fhirScopes":"launch user/Patient.rs"},' +
        '"subscription":{"id":"01890a5d-ac96-774b-bcce-b302099a8058","status":"active","orgAlias":"riverside-clinic"},' +
        '"timestamp":"2026-03-18T09:30:00.007Z"}',
    );
  });

  const statuses: Record<SubscriptionEventName, SubscriptionChange["subscription"]["status"]> = {
    "subscription.created": "active",
    "subscription.paused": "paused",
    "subscription.resumed": "active",
    "subscription.updated": "paused",
    "subscription.cancelled": "cancelled",
  };
  for (const event of subscriptionEventNames) {
    const withReason = event === "subscription.paused";
    test(`of ${event} has four fields, ${withReason ? "and a pause reason" : "without a pause reason"}`, () => {
      const subscription = { ...change.subscription, status: statuses[event] };
      const payload = JSON.parse(payloadOf({ ...change, event, subscription, pauseReason: "SECURITY" })) as object;
      assertShape("SubscriptionEvent", payload);
      assert.deepEqual(payload, {
        event,
        app: change.app,
        subscription: { ...subscription, ...(withReason ? { pauseReason: "SECURITY" } : {}) },
        timestamp: "2026-03-18T09:30:00.007Z",
      });
    });
  }

  test("has no other fields of its input", () => {
    const given = { ...change.subscription, quantity: 3, trialEndsAt: null };
    assert.equal(payloadOf({ ...change, subscription: given }), payloadOf(change));
  });
});

describe("the time of the next event", () => {
  // Years of four digits, with room for the events of a test.
  const instant = fc.date({
    min: new Date("0000-01-01T00:00:00.000Z"),
    max: new Date("9999-12-31T00:00:00.000Z"),
    noInvalidDate: true,
  });

  test("is now, or one millisecond after the last event when that is later", () => {
    fc.assert(
      fc.property(instant, instant, (now, last) => {
        const next = nextInstant(now, last);
        assert.ok(next > last && next >= now);
        assert.equal(next.getTime(), now > last ? now.getTime() : last.getTime() + 1);
      }),
    );
  });

  test("strictly increases as text, however the clock jumps", () => {
    fc.assert(
      fc.property(fc.array(instant, { minLength: 2 }), ([first = new Date(0), ...clock]) => {
        let last = first;
        for (const now of clock) {
          const next = nextInstant(now, last);
          assert.ok(next.toISOString() > last.toISOString());
          last = next;
        }
      }),
    );
  });

  test("doesn't change its arguments", () => {
    const [now, last] = [new Date(5), new Date(9)];
    assert.notEqual(nextInstant(now, last), last);
    assert.deepEqual([now.getTime(), last.getTime()], [5, 9]);
  });
});
