const maxDelayMs = 24 * 60 * 60 * 1_000;
const retryStatuses = new Set([429, 503]);

const seconds = /^\d{1,15}$/;
/** The preferred format and the obsolete ones that a recipient must accept (RFC 9110, 5.6.7). */
const dates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const dateWithoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function parseDelayMs(text: string, now: number): number {
  if (seconds.test(text)) return Number(text) * 1_000;
  if (dates.some((form) => form.test(text))) return Date.parse(text) - now;
  return dateWithoutZone.test(text) ? Date.parse(`${text} GMT`) - now : Number.NaN;
}

/** The delay in `Retry-After`; null without a valid header, or with another status than 429 and 503. */
export function retryAfterMs(
  statusCode: number,
  header: string | string[] | undefined,
  now: number = Date.now(),
): number | null {
  const [text] = [header ?? []].flat();
  if (text === undefined || !retryStatuses.has(statusCode)) return null;
  const delayMs = parseDelayMs(text.trim(), now);
  return Number.isNaN(delayMs) ? null : Math.min(Math.max(delayMs, 0), maxDelayMs);
}
