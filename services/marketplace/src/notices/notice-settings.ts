import { isDeepStrictEqual } from "node:util";
import { type NoticeKind, type NoticeSettings, noticeKinds } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import type { NoticeAudience } from "./notice-audience.ts";
import { findSettings, insertEmptySettings, lockSettings, muteKinds, updateSettings } from "./notice-settings-store.ts";
import type { NoticeDeps } from "./read-notices.ts";

const unset: NoticeSettings = { email: null, mutedKinds: [] };

export async function readNoticeSettings(
  { database }: Pick<NoticeDeps, "database">,
  { key }: NoticeAudience,
): Promise<NoticeSettings> {
  return (await findSettings(database, key)) ?? unset;
}

/** Replaces the settings. They apply at once, also to mails that wait to be sent. */
export function putNoticeSettings(
  { database, clock }: NoticeDeps,
  by: RequestContext & { role: Role },
  { key, onBehalfOf }: NoticeAudience,
  given: NoticeSettings,
): Promise<NoticeSettings> {
  const after = { email: given.email, mutedKinds: noticeKinds.filter((kind) => given.mutedKinds.includes(kind)) };
  return database.transaction().execute(async (transaction) => {
    const at = clock();
    await insertEmptySettings(transaction, key, at);
    const before = await lockSettings(transaction, key);
    if (isDeepStrictEqual(before, after)) return after;
    await updateSettings(transaction, key, after, at);
    await recordAudit(transaction, {
      by,
      role: by.role,
      at,
      onBehalfOf,
      action: "notice-settings.change",
      target: { kind: "notice-settings", id: onBehalfOf },
      before: { ...before },
      after,
    });
    return after;
  });
}

/** What the link in a mail does. */
export async function muteNotices(
  { database, clock }: { database: Kysely<DB>; clock: () => Date },
  audience: string,
  kinds: NoticeKind[],
): Promise<void> {
  await muteKinds(database, audience, kinds, clock());
}
