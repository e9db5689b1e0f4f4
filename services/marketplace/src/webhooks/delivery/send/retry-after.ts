const longestMs = 24 * 60 * 60 * 1_000;
const asked = new Set([429, 503]);

const seconds = /^\d{1,15}$/;
/** The form of today, and the two that a recipient has to understand all the same (RFC 9110, 5.6.7). */
const dates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const dateWithoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function wantedMs(text: string, now: number): number {
  if (seconds.test(text)) return Number(text) * 1_000;
  if (dates.some((form) => form.test(text))) return Date.parse(text) - now;
  return dateWithoutZone.test(text) ? Date.parse(`${text} GMT`) - now : Number.NaN;
}

/** How long a receiver asks us to wait: null where it doesn't, or not in a way that the standard knows. */
export function retryAfterMs(
  statusCode: number,
  header: string | string[] | undefined,
  now: number = Date.now(),
): number | null {
  const [text] = [header ?? []].flat();
  if (text === undefined || !asked.has(statusCode)) return null;
  const wanted = wantedMs(text.trim(), now);
  return Number.isNaN(wanted) ? null : Math.min(Math.max(wanted, 0), longestMs);
}
