import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const catalogProblems = {
  appNotFound: {
    code: "app-not-found",
    status: 404,
    title: "No such app",
    advice: "No published app has that slug. Find the right one with /apps/search.",
  },
} satisfies Record<string, ProblemKind>;

export const appNotFound = (): Problem => new Problem(catalogProblems.appNotFound, "No published app has that slug.");
