import { StringDecoder } from "node:string_decoder";

export interface OutboundResponse {
  outcome: "responded";
  /** Redirects aren't followed: theirs is returned like any other. */
  statusCode: number;
  /** The `Retry-After` of a 429 or 503, at most 24 hours. */
  retryAfterMs: number | null;
  /** The start of the body as text that can be stored and shown, at most 4 KiB. */
  snippet: string;
  /** The whole body of the response to a GET, as it is; null if it is longer than `maxBodyBytes`, and for a POST. */
  text: string | null;
}

const maxRetryAfterMs = 24 * 60 * 60 * 1_000;
const retryAfterStatusCodes = new Set([429, 503]);

const seconds = /^\d{1,15}$/;
/** IMF-fixdate and RFC 850. RFC 9110, 5.6.7 requires recipients to accept all three formats. */
const dates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
/** The format of asctime(), which is in UTC. */
const dateWithoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function parseDelayMs(text: string, now: number): number {
  if (seconds.test(text)) return Number(text) * 1_000;
  if (dates.some((format) => format.test(text))) return Date.parse(text) - now;
  return dateWithoutZone.test(text) ? Date.parse(`${text} GMT`) - now : Number.NaN;
}

/** Returns null if there is no `Retry-After`, or it is invalid, or the status code gives it no meaning. */
export function parseRetryAfter(
  statusCode: number,
  header: string | string[] | undefined,
  now: number = Date.now(),
): number | null {
  const [text] = [header ?? []].flat();
  if (text === undefined || !retryAfterStatusCodes.has(statusCode)) return null;
  const delayMs = parseDelayMs(text.trim(), now);
  return Number.isNaN(delayMs) ? null : Math.min(Math.max(delayMs, 0), maxRetryAfterMs);
}

export const maxSnippetBytes = 4_096;

/** Control characters, which terminals obey; invisible ones, which deceive readers; NUL, which PostgreSQL rejects. */
const harmful = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Decodes as many whole characters as fit. */
function decodeStart(bytes: Buffer): string {
  const decoder = new StringDecoder("utf8");
  const text = decoder.write(bytes.subarray(0, maxSnippetBytes));
  return bytes.length > maxSnippetBytes ? text : text + decoder.end();
}

/** Returns the start of a body as harmless text of at most 4 KiB of UTF-8. */
export function buildSnippet(body: Buffer): string {
  if (body.length === 0) return "";
  const text = decodeStart(body).replaceAll("\r\n", "\n").replace(harmful, "\ufffd");
  // A replacement character takes more bytes than what it replaces.
  return Buffer.byteLength(text) > maxSnippetBytes ? decodeStart(Buffer.from(text)) : text;
}
