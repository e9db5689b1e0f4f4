import type { Sent } from "./send/sent.ts";

export interface Verdict {
  outcome: "delivered" | "failed";
  statusCode: number | null;
  /** In words that a vendor reads in its log. */
  error: string | null;
  snippet: string | null;
  durationMs: number;
  retryAfterMs: number | null;
  /** The receiver says that it is gone for good. */
  gone: boolean;
}

/** Only a 2xx is success. */
export function judge(sent: Sent): Verdict {
  if (sent.outcome === "failed") {
    const error = `${sent.stage}: ${sent.reason}`;
    const { durationMs } = sent;
    return { outcome: "failed", statusCode: null, error, snippet: null, durationMs, retryAfterMs: null, gone: false };
  }
  const { statusCode, snippet, durationMs, retryAfterMs } = sent;
  const delivered = statusCode >= 200 && statusCode <= 299;
  return {
    outcome: delivered ? "delivered" : "failed",
    statusCode,
    error: delivered ? null : `answered ${statusCode}`,
    snippet: snippet === "" ? null : snippet,
    durationMs,
    retryAfterMs,
    gone: statusCode === 410,
  };
}
