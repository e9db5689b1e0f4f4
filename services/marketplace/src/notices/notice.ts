import type { NoticeKind, NoticeSeverity } from "@ehr-marketplace/contracts";

/** Who is told: the people of an organisation or of a vendor, or the operators. */
export type Audience = { organisationId: string } | { vendorId: string } | "operators";

/** Kinds of which some notices are critical. Unsubscribing from a digest doesn't mute them. */
const urgentKinds = [
  "spend-limit",
  "app-suspended",
  "subscription-paused",
  "endpoint-disabled",
  "review-due",
] as const satisfies NoticeKind[];
type UrgentKind = (typeof urgentKinds)[number];

export const canBeUrgent = (kind: NoticeKind): boolean => (urgentKinds as readonly NoticeKind[]).includes(kind);

type KindAndSeverity =
  | { kind: UrgentKind; severity: NoticeSeverity }
  | { kind: Exclude<NoticeKind, UrgentKind>; severity: Exclude<NoticeSeverity, "critical"> };

export type NewNotice = KindAndSeverity & {
  audience: Audience;
  /** What happened, in a few words. Never about a patient, and without secrets: it is mailed. */
  subject: string;
  /** What to do. The same applies. */
  detail: string;
  /** The path of the web's page about it; null if there is none. Mails make it absolute. */
  link: string | null;
  /** What it is about: an audience is told once of each key, however often it is recorded. */
  key: string;
  at: Date;
};

/** As it is stored. */
export function audienceKey(audience: Audience): string {
  if (audience === "operators") return audience;
  return "vendorId" in audience ? `vendor:${audience.vendorId}` : `organisation:${audience.organisationId}`;
}

const instantFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** Such as "18 March 2026 at 09:00 UTC". */
export const formatInstant = (at: Date): string => `${instantFormat.format(at)} UTC`;

/** The page with a subscription's details. */
export const subscriptionPage = (orgAlias: string, id: string): string =>
  `/practice/${encodeURIComponent(orgAlias)}/subscriptions?open=${id}`;

/** Processes of the previous version record paths of the API. */
export const toPage = (link: string | null): string | null => (link?.startsWith("/api/") ? null : link);

/**
 * One line of plain text of at most so many characters. Names that strangers choose may contain line breaks, which would add headers to a
 * mail, and characters that turn the direction of the text.
 */
export function toLine(text: string, maxLength: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join("")}…`;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const digestHour = 6;
/** A transaction that began before a digest is sent may commit after it, so the last minutes before belong to the next one. */
const marginMs = 5 * 60_000;

/** When the digest is sent that lists a notice of this time: daily at 06:00 in UTC. */
export function nextDigest(at: Date): Date {
  const earliest = at.getTime() + marginMs;
  const sameDay = Math.floor(earliest / dayMs) * dayMs + digestHour * hourMs;
  return new Date(earliest <= sameDay ? sameDay : sameDay + dayMs);
}
