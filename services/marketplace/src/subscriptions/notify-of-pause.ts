import type { SubscriptionEventName } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type NewNotice, subscriptionPage } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import type { PauseReason } from "./subscription.ts";
import type { LockedSubscription } from "./subscription-store.ts";

interface Change {
  event: SubscriptionEventName;
  /** In which the command was given. */
  role: Role;
  /** Of a pause. */
  reason: PauseReason | null;
  /** Of the change. */
  revision: number;
  at: Date;
}

/** Tells the practice that somebody else has paused or resumed its app. A pause at the spend limit is told with the limit. */
export async function notifyOfPause(
  transaction: Transaction<DB>,
  { row, app }: LockedSubscription,
  { event, role, reason, revision, at }: Change,
): Promise<void> {
  const isPauseOrResume = event === "subscription.paused" || event === "subscription.resumed";
  if (!isPauseOrResume || role === "org-admin" || reason === "SPEND_LIMIT") return;
  await recordNotice(transaction, {
    audience: { organisationId: row.organisation_id },
    kind: "subscription-paused",
    ...(reason === null ? resumed(app.name) : paused(app.name, reason)),
    link: subscriptionPage(row.org_alias, row.id),
    key: `subscription-paused:${row.id}:${revision}`,
    at,
  });
}

type Told = Pick<NewNotice, "severity" | "subject" | "detail">;

const resumed = (name: string): Told => ({
  severity: "info",
  subject: `${name} is active again`,
  detail: "The marketplace resumed your subscription. Your practice can use the app again, and charges continue.",
});

const paused = (name: string, reason: Exclude<PauseReason, "SPEND_LIMIT">): Told => ({
  severity: "critical",
  ...{
    NON_PAYMENT: {
      subject: `${name} is paused: payment overdue`,
      detail:
        "Your practice can't use it until the payment has arrived. Your settings are kept. Contact the marketplace if you have already paid.",
    },
    OPERATOR_HOLD: {
      subject: `${name} is paused by the marketplace`,
      detail: "Your practice can't use it for now. Your settings are kept. Contact the marketplace to learn why.",
    },
    SECURITY: {
      subject: `${name} is paused for security reasons`,
      detail: "Your practice can't use it for now. Your settings are kept. Contact the marketplace to learn more.",
    },
    ORG_REQUEST: {
      subject: `${name} is paused at your practice's request`,
      detail:
        "The marketplace paused it for you. Your settings are kept, and an admin of your practice can resume it at any time.",
    },
  }[reason],
});
