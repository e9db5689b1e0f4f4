import type { FailureReason } from "./failure.ts";

/** One request, to one receiver. */
export interface OutgoingRequest {
  url: string;
  headers: Record<string, string>;
  /** JSON text, sent as its UTF-8 bytes. */
  body: string;
  /** Networks, besides public addresses, in which the receiver is allowed. Plain http is allowed in these only. */
  allowedNetworks: readonly string[];
}

/** The stage that a request has reached. */
export type Stage = "address" | "resolve" | "connect" | "tls" | "send" | "headers" | "body";

export interface ReceivedResponse {
  outcome: "answered";
  /** Redirects are not followed. */
  statusCode: number;
  /** From `Retry-After` of a 429 or 503, at most 24 hours. */
  retryAfterMs: number | null;
  /** The beginning of the body as sanitised text, at most 4 KiB. */
  snippet: string;
}

export interface SendFailure {
  outcome: "failed";
  stage: Stage;
  reason: FailureReason;
}

export type SendResult = (ReceivedResponse | SendFailure) & { durationMs: number };

/** The current stage of a request, and how to abort it there. */
export interface RequestProgress {
  stage: Stage;
  /** Set once the request has its result; steps that are still running must open no connection. */
  isDone: boolean;
  abort: () => void;
}
