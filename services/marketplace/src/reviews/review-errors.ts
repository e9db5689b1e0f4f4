import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const reviewProblems = {
  notFound: {
    code: "review-not-found",
    status: 404,
    title: "No such review",
    advice: "No review has that id. `GET /admin/reviews` lists the open ones.",
  },
  ownRevision: {
    code: "own-revision",
    status: 403,
    title: "You edited the revision",
    advice: "Nobody approves what they edited or submitted themselves. Ask another operator.",
  },
  hasErrors: {
    code: "revision-has-errors",
    status: 409,
    title: "The revision can't be published any more",
    advice:
      "Something that it uses has changed since it was submitted; `errors` says what. Reject it with these reasons.",
  },
  revisionNotFound: {
    code: "revision-not-found",
    status: 404,
    title: "No such revision",
    advice: "`GET /developer/apps/{slug}/revisions` lists the revisions of a listing.",
  },
  draftHasErrors: {
    code: "draft-has-errors",
    status: 422,
    title: "The draft has errors",
    advice:
      "`errors` lists them, with pointers into the draft. Correct them; `GET /developer/apps/{slug}/check` lists what is left.",
  },
  tooManySubmissions: {
    code: "too-many-submissions",
    status: 429,
    title: "The vendor has submitted too often",
    advice: "A vendor can submit 50 revisions within 24 hours. Retry after the seconds in `Retry-After`.",
  },
  tooManyReviews: {
    code: "too-many-reviews",
    status: 409,
    title: "The vendor has too many open reviews",
    advice:
      "A vendor can have 20 open reviews. Wait for a decision, or withdraw one with `POST /developer/apps/{slug}/withdraw`.",
  },
} satisfies Record<string, ProblemKind>;
