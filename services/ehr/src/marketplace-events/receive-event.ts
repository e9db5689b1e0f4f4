import { runInBatches } from "@ehr-marketplace/service-kit/database";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { withOrganisationLock } from "../organisations/organisation-lock.ts";
import type { OrganisationSlots } from "../organisations/organisation-slots.ts";
import { applyState } from "../subscriptions/apply-state.ts";
import type { AppConfirmer } from "../subscriptions/confirm-apps.ts";
import { isOutdatedState } from "../subscriptions/stored-states.ts";
import { deleteAppliedBefore, insertAppliedDelivery, isAppliedDelivery } from "./applied-delivery-store.ts";
import { parseEvent, type ReceivedEvent } from "./marketplace-event.ts";
import type { VerifiedEvent } from "./verify-event.ts";

export interface EventDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  confirmer: Pick<AppConfirmer, "confirmSoon">;
  slots: OrganisationSlots;
}

const maxClockSkewMs = 5 * 60_000;
const maxDeliveryIdLength = 255;

export const outcomes = {
  applied: "applied",
  repeated: "already applied",
  outdated: "nothing to apply: this or something newer is known",
  unknown: "nothing to apply: events of this kind are not used here",
} as const;
export type Outcome = keyof typeof outcomes;

/** Applies a verified event of the marketplace. */
export async function receiveEvent(
  deps: EventDeps,
  { orgAlias, parsed }: VerifiedEvent,
  deliveryId: string | string[] | undefined,
): Promise<Outcome> {
  const result = parseEvent(parsed);
  if ("unknown" in result) return "unknown";
  if ("error" in result) throw invalidRequest("/body", `is not an event of the marketplace: ${result.error}`);
  const now = deps.clock();
  if (result.event.occurredAt.getTime() > now.getTime() + maxClockSkewMs) {
    throw invalidRequest("/body/timestamp", "is more than 5 minutes ahead of this service's clock");
  }
  if (typeof deliveryId !== "string" || deliveryId === "" || deliveryId.length > maxDeliveryIdLength) {
    throw invalidRequest(
      "/headers/x-marketplace-delivery-id",
      `is required, with at most ${maxDeliveryIdLength} characters`,
    );
  }
  return applyEvent(deps, orgAlias, deliveryId, result.event, now);
}

/**
 * The event's time decides, not the delivery's id, which isn't signed: replaying a body with the id of another delivery must neither prevent
 * that one from being applied nor fill the table.
 */
async function applyEvent(
  deps: EventDeps,
  orgAlias: string,
  deliveryId: string,
  { app, subscription, pauseReason, occurredAt }: ReceivedEvent,
  now: Date,
): Promise<Outcome> {
  const { database, queue, logger, confirmer, slots } = deps;
  const { id: subscriptionId, status } = subscription;
  // Replayed deliveries return before the row lock is taken, so they can't delay new events.
  if (!(await isOutdatedState(database, orgAlias, subscriptionId, occurredAt))) {
    const applyLocked = () =>
      withOrganisationLock(deps, orgAlias, async (transaction) => {
        const { slug: appSlug, fhirScopes } = app;
        const state = { orgAlias, subscriptionId, appSlug, status, pauseReason, fhirScopes, asOf: occurredAt };
        const applied = await applyState(transaction, queue, { ...state, now, isListed: false });
        if (applied.changed) await insertAppliedDelivery(transaction, orgAlias, deliveryId, now);
        return applied;
      });
    const { changed, fetchNow } = await slots.run(orgAlias, applyLocked).catch((error: unknown) => {
      if (error instanceof Problem) logger.warn({ orgAlias, err: error }, "rejected an event of the marketplace");
      throw error;
    });
    if (fetchNow !== undefined) confirmer.confirmSoon(app.slug, fetchNow.since);
    if (changed) return "applied";
  }
  return (await isAppliedDelivery(database, orgAlias, deliveryId)) ? "repeated" : "outdated";
}

/** Longer than the marketplace retries a delivery. A later one is outdated, and changes nothing. */
const retentionDays = 45;

/** Deletes the ids of deliveries that were applied before the retention. Returns their number. */
export function deleteOldDeliveries(database: Kysely<DB>, now: Date): Promise<number> {
  const before = new Date(now.getTime() - retentionDays * 86_400_000);
  return runInBatches((limit) => deleteAppliedBefore(database, before, limit));
}
