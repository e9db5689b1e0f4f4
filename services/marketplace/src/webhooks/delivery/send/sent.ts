import type { FailureReason } from "./failure.ts";

/** One request, to one receiver. */
export interface Outgoing {
  url: string;
  headers: Record<string, string>;
  /** JSON text, sent as its UTF-8 bytes. */
  body: string;
  /** Where the receiver may be, besides public addresses. Plain http is for these networks only. */
  allowedNetworks: readonly string[];
}

/** How far a request came. */
export type Stage = "address" | "resolve" | "connect" | "tls" | "send" | "headers" | "body";

export interface Answer {
  outcome: "answered";
  /** Also that of a redirect, which is not followed. */
  statusCode: number;
  /** What a 429 or 503 asks for, at most 24 hours. */
  retryAfterMs: number | null;
  /** The body's beginning as text that can be stored and shown, at most 4 KiB. */
  snippet: string;
}

export interface Failed {
  outcome: "failed";
  stage: Stage;
  reason: FailureReason;
}

export type Sent = (Answer | Failed) & { durationMs: number };

/** Where an attempt is now, and what puts an end to it there. */
export interface Course {
  stage: Stage;
  /** Set once the attempt has its result; whatever is still under way must open nothing more. */
  over: boolean;
  halt: () => void;
}
