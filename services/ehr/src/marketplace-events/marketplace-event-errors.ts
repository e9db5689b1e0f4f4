import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const marketplaceEventProblems = {
  signatureRefused: {
    code: "signature-refused",
    status: 401,
    title: "The signature is refused",
    advice: "Sign the body's bytes with the organisation's secret, as they are sent.",
  },
} satisfies Record<string, ProblemKind>;
