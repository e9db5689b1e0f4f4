import type { AuditPage, SubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { texts } from "../texts.ts";

export interface HistoryEntry {
  key: string;
  at: string;
  text: string;
  /** Who did it, in the role that allowed it. */
  actor: string | undefined;
}

type AuditEntry = AuditPage["items"][number];

/** The entries of the audit log about a subscription, the newest first. Those without a text are left out: they are in the log. */
export function readHistory(entries: readonly AuditEntry[]): HistoryEntry[] {
  return entries.flatMap(({ id, at, action, actor }) => {
    const text = texts.actions[action];
    return text === undefined ? [] : [{ key: id, at, text, actor: texts.roles[actor.role] ?? actor.role }];
  });
}

/** What the subscription itself tells, for members, who don't read the audit log. */
export function readDates(subscription: SubscriptionDto): HistoryEntry[] {
  const { createdAt, pausedAt, cancelledAt } = subscription;
  const dates: [string, string | null][] = [
    [texts.status.cancelled, cancelledAt],
    [texts.status.paused, pausedAt],
    [texts.actions["subscription.create"] ?? "", createdAt],
  ];
  return dates.flatMap(([text, at]) => (at === null ? [] : [{ key: text, at, text, actor: undefined }]));
}
