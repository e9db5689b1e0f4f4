import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const sandboxProblems = {
  notFound: {
    code: "sandbox-app-not-found",
    status: 404,
    title: "No such sandbox app",
    advice:
      "No sandbox app of yours has that slug: the vendor hasn't installed the draft, or your organisation has no live subscription to it.",
  },
} satisfies Record<string, ProblemKind>;
