import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const endpointProblems = {
  notFound: {
    code: "endpoint-not-found",
    status: 404,
    title: "No such endpoint",
    advice: "No endpoint of your vendor has that id. `GET /developer/webhooks` lists those that are there.",
  },
  deliveryNotFound: {
    code: "delivery-not-found",
    status: 404,
    title: "No such delivery",
    advice: "No delivery to this endpoint has that id. `GET /developer/webhooks/{id}/deliveries` lists them.",
  },
  tooMany: {
    code: "too-many-endpoints",
    status: 409,
    title: "The vendor has as many endpoints as it may",
    advice: "A vendor may have 20 endpoints. Delete one that is no longer needed, or change it with `PATCH`.",
  },
  noRotation: {
    code: "no-rotation",
    status: 409,
    title: "There is no next secret",
    advice:
      "Give one with `POST /developer/webhooks/{id}/rotate-secret` first. After 24 hours it is promoted by itself.",
  },
  deliveryUnderWay: {
    code: "delivery-under-way",
    status: 409,
    title: "The delivery is on its way already",
    advice:
      "Wait until it is settled: `GET /developer/webhooks/{id}/deliveries` shows its status and its next attempt.",
  },
  testsUnderWay: {
    code: "tests-under-way",
    status: 409,
    title: "Too many tests are on their way already",
    advice: "Wait until they are settled: `GET /developer/webhooks/{id}/deliveries` shows what became of them.",
  },
  testedTooOften: {
    code: "endpoint-tested-too-often",
    status: 429,
    title: "The endpoint has been tested too often",
    advice: "An endpoint can be tested 10 times a minute. Wait as many seconds as `Retry-After` says.",
  },
  notAllowed: {
    code: "endpoint-not-allowed",
    status: 422,
    title: "The URL can't be used",
    advice: "Give an https URL with a public address, without a user name, a password and a fragment.",
  },
  unknownVendor: {
    code: "unknown-vendor",
    status: 422,
    title: "The vendor is not registered",
    advice: "No vendor of the marketplace has that slug. Check `X-Vendor-Slug`, or the vendor that your token names.",
  },
} satisfies Record<string, ProblemKind>;
