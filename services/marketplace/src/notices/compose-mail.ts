import type { NoticeKind } from "@ehr-marketplace/contracts";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import { nameKinds } from "./kind-names.ts";
import { canBeUrgent, toPage } from "./notice.ts";
import type { NoticeRow } from "./notice-store.ts";
import { createUnsubscribeToken } from "./unsubscribe-token.ts";

export interface Mail {
  messageId: string;
  to: string;
  subject: string;
  text: string;
  headers: Record<string, string>;
}

export interface MailContext {
  /** Where the API is, without a slash at the end. */
  publicUrl: string;
  /** Where the web is, without a slash at the end; undefined if none runs. */
  webUrl: string | undefined;
  digest: KeyedDigest;
}

export interface MailContent {
  id: string;
  audience: string;
  isDigest: boolean;
  to: string;
  /** The oldest of a digest. */
  notices: NoticeRow[];
  /** Whether the digest has notices that are not among them. */
  hasMore: boolean;
}

/** The same content gives the same mail: one that is sent twice has the same `Message-ID`, by which mail servers recognise it. */
export function composeMail(context: MailContext, content: MailContent): Mail {
  const { publicUrl, digest } = context;
  const { id, audience, notices } = content;
  const kinds = [...new Set(notices.map(({ kind }) => kind))];
  // A digest's link doesn't mute what may be urgent another time.
  const mutable = content.isDigest ? kinds.filter((kind) => !canBeUrgent(kind)) : kinds;
  const kept = kinds.filter((kind) => !mutable.includes(kind));
  const linkOf = (muted: NoticeKind[]): string => {
    const token = createUnsubscribeToken(digest, { audience, kinds: muted, email: content.to });
    return `${publicUrl}/notices/unsubscribe?token=${token}`;
  };
  const footer = [
    "--",
    "EHR Marketplace sends this to the address in your notice settings.",
    ...mutable.map((kind) => `Stop emails about ${nameKinds([kind])}: ${linkOf([kind])}`),
    ...(kept.length === 0
      ? []
      : [`Emails about ${nameKinds(kept)} can be urgent. You can stop them in the notice settings.`]),
  ];
  return {
    messageId: `<${id}@${new URL(publicUrl).hostname}>`,
    to: content.to,
    subject: subjectOf(content),
    text: `${[...notices.flatMap((notice) => paragraph(context, notice)), ...moreOf(content), ...footer].join("\n")}\n`,
    headers: {
      "Auto-Submitted": "auto-generated",
      ...(mutable.length === 0
        ? {}
        : { "List-Unsubscribe": `<${linkOf(mutable)}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    },
  };
}

function subjectOf({ isDigest, notices, hasMore }: MailContent): string {
  const [first] = notices;
  const count = notices.length;
  if (!isDigest && first !== undefined) return first.subject;
  return `EHR Marketplace: ${hasMore ? "more than " : ""}${count} ${count === 1 ? "notice" : "notices"}`;
}

function paragraph({ webUrl }: MailContext, { subject, detail, link }: NoticeRow): string[] {
  const page = toPage(link);
  return [subject, detail, ...(webUrl === undefined || page === null ? [] : [`${webUrl}${page}`]), ""];
}

const moreOf = ({ hasMore }: MailContent): string[] =>
  hasMore ? ["There are more in the list of your notices.", ""] : [];
