import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const statementProblems = {
  notFound: {
    code: "statement-not-found",
    status: 404,
    title: "The month has no statement",
    advice: "Name this month or an earlier one that `GET …/statements` lists.",
  },
  creditAboveCharge: {
    code: "credit-above-charge",
    status: 422,
    title: "More than was charged",
    advice: "`detail` says what can still be credited: credit that much at most.",
  },
  tooManyCredits: {
    code: "too-many-credits",
    status: 422,
    title: "The month has too many credits",
    advice: "Give one credit with the sum of several, or wait for the next month.",
  },
} satisfies Record<string, ProblemKind>;

export const statementNotFound = (month: string): Problem =>
  new Problem(statementProblems.notFound, `There are no statements of ${month}.`);
