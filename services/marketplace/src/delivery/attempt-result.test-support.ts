import type { AttemptResult } from "./attempt-result.ts";

export const delivered: AttemptResult = {
  outcome: "delivered",
  statusCode: 204,
  error: null,
  snippet: null,
  durationMs: 1,
  retryAfterMs: null,
  gone: false,
  reachability: "responded",
};
