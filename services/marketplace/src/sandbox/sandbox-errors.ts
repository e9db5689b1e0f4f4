import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const sandboxProblems = {
  notFound: {
    code: "sandbox-app-not-found",
    status: 404,
    title: "No such sandbox app",
    advice:
      "No sandbox app of yours has that slug: the vendor hasn't installed the draft, or your organisation has no live subscription to it.",
  },
  tooManyDrafts: {
    code: "too-many-sandbox-drafts",
    status: 409,
    title: "The vendor has too many drafts in sandbox organisations",
    advice:
      "A vendor can have 20 drafts installed at a time, because each is an OAuth client of the sandbox's EHR. End an installation with `DELETE /developer/apps/{slug}/test-subscriptions/{orgAlias}`; `GET /developer/subscriptions?status=active` lists them.",
  },
  notInstalled: {
    code: "sandbox-installation-not-found",
    status: 404,
    title: "The draft isn't installed there",
    advice:
      "The draft was never installed in that sandbox organisation. `GET /developer/subscriptions` lists where your drafts are.",
  },
} satisfies Record<string, ProblemKind>;
