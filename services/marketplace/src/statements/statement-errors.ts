import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const statementProblems = {
  notFound: {
    code: "statement-not-found",
    status: 404,
    title: "The month has no statement",
    advice: "Name this month or an earlier one that `GET …/statements` lists.",
  },
} satisfies Record<string, ProblemKind>;

export const statementNotFound = (month: string): Problem =>
  new Problem(statementProblems.notFound, `There are no statements of ${month}.`);
