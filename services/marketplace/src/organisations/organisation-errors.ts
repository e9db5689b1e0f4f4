import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const organisationProblems = {
  notFound: {
    code: "organisation-not-found",
    status: 404,
    title: "No such organisation",
    advice: "No organisation is registered under that alias. `GET /admin/organisations` lists those that are.",
  },
  kindFixed: {
    code: "organisation-kind-fixed",
    status: 409,
    title: "The kind and the vendor of an organisation never change",
    advice: "Register another organisation, or omit `kind` and `vendorSlug`.",
  },
  tooManySandboxes: {
    code: "too-many-sandbox-organisations",
    status: 409,
    title: "The vendor has too many sandbox organisations",
    advice: "A vendor can have 20 sandbox organisations. Use one that it has.",
  },
  callbackNotAllowed: {
    code: "callback-not-allowed",
    status: 422,
    title: "The callback can't be used",
    advice:
      "Use an https URL with a public address. Private addresses and plain http are allowed only within `callbackNetworks`.",
  },
} satisfies Record<string, ProblemKind>;
