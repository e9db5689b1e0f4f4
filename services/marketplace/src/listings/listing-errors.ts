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
  unpublishedTooOften: {
    code: "unpublished-too-often",
    status: 429,
    title: "The app was just republished",
    advice: "An app can be unpublished 10 seconds after it was republished. Retry after the seconds in `Retry-After`.",
  },
  reviewOpen: {
    code: "review-open",
    status: 409,
    title: "A review is open",
    advice:
      "The listing was submitted already. Withdraw it with `POST /developer/apps/{slug}/withdraw` to submit another revision.",
  },
  submitted: {
    code: "listing-submitted",
    status: 409,
    title: "The listing was submitted",
    advice:
      "Only what was never submitted can be deleted, because reviews are kept. Unpublish a published app; nobody but the vendor sees the others.",
  },
  installed: {
    code: "draft-installed",
    status: 409,
    title: "The draft is installed in a sandbox organisation",
    advice:
      "End its installations with `DELETE /developer/apps/{slug}/test-subscriptions/{orgAlias}`; `detail` says where it is installed. Then delete the draft.",
  },
  noOpenReview: {
    code: "no-open-review",
    status: 409,
    title: "No review is open",
    advice: "The review was decided or withdrawn, or nothing was submitted. Read the listing or the review again.",
  },
  notPublished: {
    code: "not-published",
    status: 409,
    title: "The app is not published",
    advice: "This is for apps that have been published. Submit the listing, and wait for its approval.",
  },
  alreadyUnpublished: {
    code: "already-unpublished",
    status: 409,
    title: "The app is unpublished already",
    advice: "`POST /developer/apps/{slug}/republish` puts it back into the catalog.",
  },
  notUnpublished: {
    code: "not-unpublished",
    status: 409,
    title: "The app is not unpublished",
    advice: "Only an app that its vendor unpublished can be republished.",
  },
  alreadySuspended: {
    code: "already-suspended",
    status: 409,
    title: "The app is suspended already",
    advice:
      "`POST /admin/apps/{slug}/reinstate` ends the suspension. If it pauses no subscriptions, suspending again with `pauseSubscriptions` does so.",
  },
  notSuspended: {
    code: "not-suspended",
    status: 409,
    title: "The app is not suspended",
    advice: "Only a suspended app can be reinstated.",
  },
  unknownApp: {
    code: "app-not-listed",
    status: 404,
    title: "No such app",
    advice: "No vendor has a listing with that slug.",
  },
} satisfies Record<string, ProblemKind>;
