import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const usageProblems = {
  reportedTooOften: {
    code: "usage-reported-too-often",
    status: 429,
    title: "Usage is reported too often",
    advice:
      "Usage of a subscription is reported at most 20 times a second. Collect records for some seconds and send up to 500 in one request; retry after the seconds in `Retry-After`.",
  },
} satisfies Record<string, ProblemKind>;
