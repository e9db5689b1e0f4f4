import { type Static, Type } from "typebox";
import { organisationParams } from "./organisations.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, uuid } from "./wire-types.ts";

export const noticeKinds = [
  "scopes-pending",
  "spend-limit",
  "app-suspended",
  "subscription-paused",
  "endpoint-held",
  "endpoint-disabled",
  "review-submitted",
  "review-decided",
  "review-due",
  "connection-failed",
  "credit",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

const noticeKind = Type.Enum([...noticeKinds], { type: "string", description: "What it is about" });

const noticeSeverities = ["info", "warning", "critical"] as const;
export type NoticeSeverity = (typeof noticeSeverities)[number];

export const noticeDto = Type.Object(
  {
    id: uuid("The notice's identifier"),
    kind: noticeKind,
    severity: Type.Enum([...noticeSeverities], {
      description: "`warning` and `critical` are mailed at once, `info` in the daily digest",
    }),
    subject: Type.String({ description: "What happened" }),
    detail: Type.String({ description: "What to do" }),
    link: nullable(
      Type.String({ examples: ["/practice/riverside-clinic/subscriptions?open=01890a5d-ac96-774b-bcce-b302099a8054"] }),
      "Path of the web's page about it; null if there is none",
    ),
    createdAt: instant("When it was recorded"),
    readAt: nullable(instant("When somebody marked it as read"), "Null while it is unread"),
  },
  { $id: "NoticeDto", title: "NoticeDto" },
);
export type NoticeDto = Static<typeof noticeDto>;

export const noticePage = Type.Object(
  { items: Type.Array(Type.Ref("NoticeDto#"), { description: "Newest first" }), next: nextCursor },
  { $id: "NoticePage", title: "NoticePage" },
);
export type NoticePage = { items: NoticeDto[]; next: string | null };

export const listNoticesQuery = Type.Object({
  ...pageQuery.properties,
  unread: Type.Optional(Type.Boolean({ default: false, description: "Only those that nobody has marked as read" })),
});
export type ListNoticesQuery = PageQuery & { unread: boolean };

export const noticeParams = Type.Object({ id: uuid("The notice") });
export const organisationNoticeParams = Type.Object({ ...organisationParams.properties, ...noticeParams.properties });

/** One address: no list, no name, no comment. */
export const noticeEmailPattern = "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63})*$";

const settings = {
  email: nullable(
    Type.String({
      maxLength: 254,
      pattern: noticeEmailPattern,
      "x-error-message": "must be one email address",
      examples: ["office@example.com"],
    }),
    "Where notices are mailed, if the operator has set up mail; null: nowhere",
  ),
  mutedKinds: Type.Array(noticeKind, {
    maxItems: noticeKinds.length,
    uniqueItems: true,
    description: "Kinds that are not mailed. They are listed all the same",
  }),
};

export const putNoticeSettingsBody = Type.Object(settings, { additionalProperties: false });
export type NoticeSettings = { email: string | null; mutedKinds: NoticeKind[] };

export const noticeSettingsDto = Type.Object(
  {
    ...settings,
    isConfirmed: Type.Boolean({
      description:
        "Whether the address is confirmed, by the link that it was mailed. Until then nothing else is mailed to it",
    }),
  },
  { $id: "NoticeSettingsDto", title: "NoticeSettingsDto" },
);
export type NoticeSettingsDto = NoticeSettings & { isConfirmed: boolean };
