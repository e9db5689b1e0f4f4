const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How long a mail is tried. `insertNotices` has the same. */
export const triedMs = 72 * hourMs;

/** How long a worker has a mail to itself. Longer than sending takes. */
export const leaseMs = 2 * minuteMs;

/** The wait after so many failed attempts: a minute, doubled each time, up to an hour. */
export const waitMs = (attempts: number): number => Math.min(hourMs, minuteMs * 2 ** Math.max(0, attempts - 1));

/** How long nothing is sent after the mail server has failed so many times in a row: ten seconds, doubled, up to five minutes. */
export const pauseMs = (failures: number): number => Math.min(5 * minuteMs, 10_000 * 2 ** Math.max(0, failures - 1));

export type SendFailure =
  /** The server refuses this mail for good. */
  | "rejected"
  /** The server refuses this mail for now. */
  | "deferred"
  /** The server can't be used: it is down, unreachable, or refuses us. Other mails would fail, too. */
  | "unavailable";

/** When a mail is tried next; null if it is given up. */
export function nextAttempt(
  failure: SendFailure,
  { attempts, expiresAt }: { attempts: number; expiresAt: Date },
  now: Date,
): Date | null {
  if (failure === "rejected") return null;
  const next = new Date(now.getTime() + waitMs(attempts));
  return next < expiresAt ? next : null;
}

/** By the error of nodemailer. Only what the server says of the sender, the recipient or the message is about the one mail. */
export function classifyFailure(error: { code?: unknown; responseCode?: unknown }): SendFailure {
  const isAboutMail = error.code === "EENVELOPE" || error.code === "EMESSAGE";
  if (!isAboutMail || typeof error.responseCode !== "number") return "unavailable";
  return error.responseCode >= 500 ? "rejected" : "deferred";
}
