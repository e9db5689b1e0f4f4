import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const searchProblems = {
  synonymsChanged: {
    code: "search-synonyms-changed",
    status: 412,
    title: "The synonyms have changed",
    advice:
      "`GET /admin/search-synonyms` again, repeat your change in what it returns, and send that with its `ETag` as `If-Match`.",
  },
} satisfies Record<string, ProblemKind>;
