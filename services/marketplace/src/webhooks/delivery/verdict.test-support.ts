import type { Verdict } from "./judge.ts";

export const delivered: Verdict = {
  outcome: "delivered",
  statusCode: 204,
  error: null,
  snippet: null,
  durationMs: 1,
  retryAfterMs: null,
  gone: false,
};
