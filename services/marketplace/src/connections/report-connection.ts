import type { ConnectionDto, ConnectionState, PutConnectionBody } from "@ehr-marketplace/contracts";
import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import { invalidInputs, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { recordConnectionUpdated } from "../events/record-connection-updated.ts";
import { subscriptionPage } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import { lockReportedSubscription } from "../subscriptions/lock-reported-subscription.ts";
import { requireReadableSubscription } from "../subscriptions/read-subscriptions.ts";
import { findInvalidFields, isSameState, maxChangesPerHour, msUntilChange, toState, unreported } from "./connection.ts";
import { connectionProblems } from "./connection-errors.ts";
import { findConnection, upsertConnection } from "./connection-store.ts";

export interface ConnectionDeps {
  database: Kysely<DB>;
  clock: () => Date;
  queue: Queue;
  allowsHttp: boolean;
}

const toDto = (state: ConnectionState, updatedAt: Date | undefined): ConnectionDto => ({
  ...state,
  updatedAt: updatedAt?.toISOString() ?? null,
});

/** For everyone who may read the subscription, also after it was cancelled. */
export async function getConnection(
  { database }: Pick<ConnectionDeps, "database">,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
): Promise<ConnectionDto> {
  await requireReadableSubscription(database, caller, subscriptionId, vendorNamed);
  const stored = await findConnection(database, subscriptionId);
  return toDto(stored?.state ?? unreported, stored?.updatedAt);
}

/** The EHR of the subscription's organisation says whether the app can sign in. A report that changes nothing leaves no trace. */
export async function reportConnection(
  { database, clock, queue, allowsHttp }: ConnectionDeps,
  by: RequestContext,
  subscriptionId: string,
  body: PutConnectionBody,
): Promise<ConnectionDto> {
  const reported = toState(body);
  const invalid = findInvalidFields(reported, { allowsHttp });
  if (invalid.length > 0)
    throw invalidInputs(invalid.map(({ field, detail }) => ({ pointer: `/body/${field}`, detail })));
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    const { app, vendorId, organisationId, role, ...subscription } = await lockReportedSubscription(
      transaction,
      by.caller,
      subscriptionId,
    );
    const stored = await findConnection(transaction, subscription.id);
    if (stored !== undefined && isSameState(stored.state, reported)) return toDto(stored.state, stored.updatedAt);
    const retryAfterMs = msUntilChange(stored?.limitingChange ?? null, now);
    if (retryAfterMs > 0) {
      const detail = `The connection of subscription ${subscription.id} has changed ${maxChangesPerHour} times within an hour.`;
      throw rateLimitProblem(connectionProblems.changedTooOften, detail, { limit: maxChangesPerHour, retryAfterMs });
    }
    const at = stored === undefined ? now : nextInstant(now, stored.updatedAt);
    await upsertConnection(transaction, subscription.id, reported, at);
    await recordConnectionUpdated(transaction, queue, { app, subscription, connection: reported, vendorId, at });
    if (reported.status === "failed" && stored?.state.status !== "failed") {
      await recordNotice(transaction, {
        audience: { organisationId },
        kind: "connection-failed",
        severity: "warning",
        subject: `${app.name} can't sign in`,
        // Not the reason, which is free text of the EHR.
        detail:
          "Your EHR couldn't connect the app, so nobody at your practice can use it. Open the subscription to see why and what to do.",
        link: subscriptionPage(subscription.orgAlias, subscription.id),
        // Once a day: a connection may fail, recover and fail.
        key: `connection-failed:${subscription.id}:${at.toISOString().slice(0, 10)}`,
        at,
      });
    }
    await recordAudit(transaction, {
      by,
      role,
      at,
      onBehalfOf: subscription.orgAlias,
      action: "connection.report",
      target: { kind: "connection", id: subscription.id },
      before: stored?.state ?? null,
      after: reported,
    });
    return toDto(reported, at);
  });
}
