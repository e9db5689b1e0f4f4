import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

const organisationProblems = {
  notFound: {
    code: "organisation-not-found",
    status: 404,
    title: "The organisation is unknown",
    advice: "Set its secret first, which creates the organisation.",
  },
} satisfies Record<string, ProblemKind>;

/** Only for operators: others must not learn which aliases exist. */
export const organisationNotFound = (): Problem =>
  new Problem(organisationProblems.notFound, "No organisation with that alias exists.");
