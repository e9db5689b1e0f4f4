import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const endpointProblems = {
  notFound: {
    code: "endpoint-not-found",
    status: 404,
    title: "Endpoint not found",
    advice: "No endpoint of your vendor has that id. `GET /developer/webhooks` lists the vendor's endpoints.",
  },
  deliveryNotFound: {
    code: "delivery-not-found",
    status: 404,
    title: "Delivery not found",
    advice: "No delivery to this endpoint has that id. `GET /developer/webhooks/{id}/deliveries` lists them.",
  },
  tooMany: {
    code: "too-many-endpoints",
    status: 409,
    title: "The vendor has reached the limit of endpoints",
    advice: "A vendor can have 20 endpoints. Delete an endpoint that is no longer needed, or change one with `PATCH`.",
  },
  noRotation: {
    code: "no-rotation",
    status: 409,
    title: "The endpoint has no next secret",
    advice:
      "Add one with `POST /developer/webhooks/{id}/rotate-secret` first. It is promoted automatically after 24 hours.",
  },
  deliveryUnderWay: {
    code: "delivery-under-way",
    status: 409,
    title: "The delivery is not settled yet",
    advice:
      "Wait until the delivery is settled. `GET /developer/webhooks/{id}/deliveries` shows its status and its next attempt. If its endpoint is disabled, enable it: `POST /developer/webhooks/{id}/enable`.",
  },
  testsUnderWay: {
    code: "tests-under-way",
    status: 409,
    title: "Too many tests are not settled yet",
    advice: "Wait until the earlier tests are settled. `GET /developer/webhooks/{id}/deliveries` shows their status.",
  },
  testedTooOften: {
    code: "endpoint-tested-too-often",
    status: 429,
    title: "The endpoint was tested too often",
    advice: "An endpoint can be tested 10 times per minute. Wait for the number of seconds in `Retry-After`.",
  },
  notAllowed: {
    code: "endpoint-not-allowed",
    status: 422,
    title: "The URL can't be used",
    advice: "Use an https URL with a public address and without user name, password or fragment.",
  },
} satisfies Record<string, ProblemKind>;
