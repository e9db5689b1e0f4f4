import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const idempotencyProblems = {
  keyReused: {
    code: "idempotency-key-reused",
    status: 422,
    title: "The idempotency key was used for another request",
    advice: "Send a new `Idempotency-Key` with every new request, and the same one only to repeat a request unchanged.",
  },
} satisfies Record<string, ProblemKind>;
