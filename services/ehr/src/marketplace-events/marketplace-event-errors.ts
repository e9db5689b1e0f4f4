import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const marketplaceEventProblems = {
  signatureRefused: {
    code: "signature-refused",
    status: 401,
    title: "The signature is invalid",
    advice: "Sign the exact bytes of the body with the organisation's secret.",
  },
} satisfies Record<string, ProblemKind>;
