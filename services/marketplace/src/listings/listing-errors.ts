import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const listingProblems = {
  notFound: {
    code: "listing-not-found",
    status: 404,
    title: "No such listing",
    advice: "The vendor has no listing with that slug. `GET /developer/apps` lists those that it has.",
  },
  slugTaken: {
    code: "slug-taken",
    status: 409,
    title: "The slug is taken",
    advice: "Choose another slug. If it is an app of yours, `GET /developer/apps` lists it.",
  },
  changed: {
    code: "listing-changed",
    status: 412,
    title: "The listing has changed",
    advice:
      "`GET /developer/apps/{slug}` again, repeat your change in what it returns, and send its `ETag` as `If-Match`.",
  },
  tooMany: {
    code: "too-many-listings",
    status: 409,
    title: "The vendor has too many listings",
    advice: "A vendor can have 1,000 listings. Ask the marketplace's operator if you need more.",
  },
} satisfies Record<string, ProblemKind>;
