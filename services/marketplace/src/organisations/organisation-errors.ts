import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const organisationProblems = {
  notFound: {
    code: "organisation-not-found",
    status: 404,
    title: "No such organisation",
    advice: "No organisation is registered under that alias. `GET /admin/organisations` lists those that are.",
  },
  callbackNotAllowed: {
    code: "callback-not-allowed",
    status: 422,
    title: "The callback can't be used",
    advice:
      "Use an https URL with a public address. Private addresses and plain http are allowed only within `callbackNetworks`.",
  },
} satisfies Record<string, ProblemKind>;
