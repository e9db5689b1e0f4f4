import type { NoticeDto } from "@ehr-marketplace/client/marketplace";
import { formatMonth } from "../../storefront/format.ts";
import { practiceName } from "../practice-name.ts";
import { texts } from "../texts.ts";

export interface DescribedNotice {
  subject: string;
  /** What it means for the practice, and what to do. */
  text: string;
  /** What it is about, if the console shows it. */
  subscriptionId: string | undefined;
  /** The words of the link to it. */
  goTo: string;
}

type GivenNotice = Pick<NoticeDto, "kind" | "subject" | "detail" | "link">;
type Known = keyof typeof texts.notices.kinds;

const isKnown = (kind: string): kind is Known => Object.hasOwn(texts.notices.kinds, kind);

/** The page with a subscription's details. */
const subscriptionPath = /^\/practice\/[^/]+\/subscriptions\?open=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** How the subject of a spend limit and of a credit ends: "in 2026-11 (riverside-clinic)". */
const monthOfPractice = / in (\d{4}-(?:0[1-9]|1[0-2])) \(([a-z0-9-]+)\)$/;

const describeSubject = (subject: string): string =>
  subject.replace(monthOfPractice, (_, month: string, alias: string) =>
    texts.notices.monthOfPractice(formatMonth(month), practiceName(alias)),
  );

/** A notice in words of the console where it has some: the details of older ones name fields of the API. */
export function describeNotice({ kind, subject, detail, link }: GivenNotice): DescribedNotice {
  const known: { text: string | undefined; goTo: string } | undefined = isKnown(kind)
    ? texts.notices.kinds[kind]
    : undefined;
  return {
    subject: kind === "spend-limit" || kind === "credit" ? describeSubject(subject) : subject,
    text: known?.text ?? detail,
    subscriptionId: subscriptionPath.exec(link ?? "")?.[1],
    goTo: known?.goTo ?? texts.notices.other.goTo,
  };
}

/** The number beside the link: "" if there are none, "50+" if there are more than are counted. */
export function countUnread({ items, next }: { items: readonly unknown[]; next: string | null }): string {
  if (items.length === 0) return "";
  return next === null ? String(items.length) : `${items.length}+`;
}
