import { isDeepStrictEqual } from "node:util";
import { type NoticeSettings, type NoticeSettingsDto, noticeKinds } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { type Author, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import type { Confirmation } from "./confirmation-token.ts";
import { isSentTo } from "./mail-token.ts";
import { audienceOfKey, type NoticeAudience } from "./notice-audience.ts";
import { noticeProblems } from "./notice-errors.ts";
import { findSettings, insertEmptySettings, lockSettings, updateSettings } from "./notice-settings-store.ts";
import type { NoticeDeps } from "./read-notices.ts";
import { requestConfirmation } from "./request-confirmation.ts";
import type { Unsubscription } from "./unsubscribe-token.ts";

const unset: NoticeSettingsDto = { email: null, mutedKinds: [], isConfirmed: false };

export async function readNoticeSettings(
  { database }: Pick<NoticeDeps, "database">,
  { key }: NoticeAudience,
): Promise<NoticeSettingsDto> {
  return (await findSettings(database, key)) ?? unset;
}

/**
 * Replaces the settings. They apply at once, also to mails that wait to be sent. An address that is new, or that is put once more without being
 * confirmed, gets a link to confirm it, as soon as its mailbox may get one.
 */
export function putNoticeSettings(
  { database, clock }: NoticeDeps,
  by: RequestContext & { role: Role },
  audience: NoticeAudience,
  given: NoticeSettings,
): Promise<NoticeSettingsDto> {
  return database.transaction().execute(async (transaction) => {
    const at = clock();
    await insertEmptySettings(transaction, audience.key, at);
    const before = (await lockSettings(transaction, audience.key)) ?? unset;
    const after = await changeSettings(transaction, { by, role: by.role, at, audience, before, given });
    const { email, isConfirmed } = after;
    if (email !== null && !isConfirmed && (email !== before.email || isDeepStrictEqual(before, after)))
      await requestConfirmation(transaction, { audience: audience.key, email, at });
    return after;
  });
}

interface Change {
  by: Author;
  role: Role;
  at: Date;
  audience: NoticeAudience;
  before: NoticeSettingsDto;
  given: NoticeSettings;
  confirms?: boolean;
}

async function changeSettings(transaction: Transaction<DB>, change: Change): Promise<NoticeSettingsDto> {
  const { by, role, at, audience, before, given, confirms = false } = change;
  const { key, onBehalfOf } = audience;
  const after = {
    email: given.email,
    mutedKinds: noticeKinds.filter((kind) => given.mutedKinds.includes(kind)),
    isConfirmed: confirms || (before.isConfirmed && given.email === before.email),
  };
  if (isDeepStrictEqual(before, after)) return after;
  await updateSettings(transaction, key, after, at);
  await recordAudit(transaction, {
    by,
    role,
    at,
    onBehalfOf,
    action: "notice-settings.change",
    target: { kind: "notice-settings", id: onBehalfOf },
    before: { ...before },
    after,
  });
  return after;
}

/**
 * What the link in a mail does. Throws if mails go to another address now: who got the mail has no say there. Without an address nothing is
 * mailed, and nothing changes.
 */
export function muteByLink(
  { database, clock, digest }: Pick<NoticeDeps, "database" | "clock"> & { digest: KeyedDigest },
  link: Unsubscription,
  requestId: string,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const before = await lockSettings(transaction, link.audience);
    if (before === undefined || before.email === null) return;
    if (!isSentTo(digest, link, before.email))
      throw new Problem(noticeProblems.linkInvalid, "The link is of a mail to another address than the current one.");
    const { audience, role } = await audienceOfKey(transaction, link.audience);
    await changeSettings(transaction, {
      by: { caller: { issuer: "marketplace", subject: "unsubscribe-link" }, requestId },
      role,
      at: clock(),
      audience,
      before,
      given: { email: before.email, mutedKinds: [...before.mutedKinds, ...link.kinds] },
    });
  });
}

/** What the link in a confirmation does. Throws if the audience's address is another one now, or none. */
export function confirmByLink(
  { database, clock, digest }: Pick<NoticeDeps, "database" | "clock"> & { digest: KeyedDigest },
  link: Confirmation,
  requestId: string,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const before = await lockSettings(transaction, link.audience);
    if (before === undefined || before.email === null || !isSentTo(digest, link, before.email))
      throw new Problem(
        noticeProblems.confirmationInvalid,
        "The address was changed or removed since the link was sent.",
      );
    const { audience, role } = await audienceOfKey(transaction, link.audience);
    await changeSettings(transaction, {
      by: { caller: { issuer: "marketplace", subject: "confirmation-link" }, requestId },
      role,
      at: clock(),
      audience,
      before,
      given: before,
      confirms: true,
    });
  });
}
