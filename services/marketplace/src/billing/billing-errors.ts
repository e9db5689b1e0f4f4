import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const billingProblems = {
  spendLimitReached: {
    code: "spend-limit-reached",
    status: 409,
    title: "The subscription has reached its spend limit",
    advice:
      "Raise the limit with `PUT /subscriptions/{id}/spend-limit` above the cost that `detail` names, and resume or change the terms then. Or wait for the next month.",
  },
  limitBelowCost: {
    code: "limit-below-cost",
    status: 409,
    title: "The month has cost more than that limit",
    advice:
      "`detail` says what the month has cost so far. Set a higher limit; or send `confirm: true`, and the limit is reached at once. After `DELETE`, which would restore a lower default, set your own.",
  },
  usageNotCharged: {
    code: "usage-not-charged",
    status: 422,
    title: "The plan charges no usage",
    advice: "Omit `usage`: only USAGE plans charge it.",
  },
} satisfies Record<string, ProblemKind>;
