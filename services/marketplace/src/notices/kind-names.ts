import type { NoticeKind } from "@ehr-marketplace/contracts";

/** After "emails about". */
const kindNames: Record<NoticeKind, string> = {
  "scopes-pending": "apps that ask for more access",
  "spend-limit": "spend limits",
  "app-suspended": "suspended apps",
  "subscription-paused": "paused apps",
  "endpoint-held": "failing webhook endpoints",
  "endpoint-disabled": "disabled webhook endpoints",
  "review-submitted": "new submissions",
  "review-decided": "finished reviews",
  "review-due": "reviews that are due",
  credit: "credits",
  "connection-failed": "apps that can't sign in",
};

const list = new Intl.ListFormat("en-GB", { type: "conjunction" });

export const nameKinds = (kinds: readonly NoticeKind[]): string => list.format(kinds.map((kind) => kindNames[kind]));
