import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const billingProblems = {
  usageNotCharged: {
    code: "usage-not-charged",
    status: 422,
    title: "The plan charges no usage",
    advice: "Omit `usage`: only USAGE plans charge it.",
  },
} satisfies Record<string, ProblemKind>;
