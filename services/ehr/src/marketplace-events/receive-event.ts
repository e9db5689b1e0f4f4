import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { applyState } from "../installations/apply-state.ts";
import type { AppConfirmer } from "../installations/confirm-apps.ts";
import { isKnownState } from "../installations/known-states.ts";
import { holdingOrganisation } from "../organisations/hold-organisation.ts";
import type { OrganisationSlots } from "../organisations/organisation-slots.ts";
import { insertAppliedDelivery, isAppliedDelivery } from "./applied-delivery-store.ts";
import { type ReceivedEvent, readEvent } from "./marketplace-event.ts";
import type { Verified } from "./verify-event.ts";

export interface Receiving {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  confirmer: Pick<AppConfirmer, "confirmSoon">;
  slots: OrganisationSlots;
}

const aheadMs = 5 * 60_000;
const longestDeliveryId = 255;

export const outcomes = {
  applied: "applied",
  repeated: "already applied",
  outdated: "nothing to apply: this or something newer is known",
  unknown: "nothing to apply: events of this kind are not used here",
} as const;
export type Outcome = keyof typeof outcomes;

/** What the marketplace tells of a subscription, once its bytes are verified. */
export async function receiveEvent(
  receiving: Receiving,
  { orgAlias, parsed }: Verified,
  deliveryId: string | string[] | undefined,
): Promise<Outcome> {
  const result = readEvent(parsed);
  if ("unknown" in result) return "unknown";
  if ("wrong" in result) throw invalidRequest("/body", `is not an event of the marketplace: ${result.wrong}`);
  const now = receiving.clock();
  if (result.event.occurredAt.getTime() > now.getTime() + aheadMs) {
    throw invalidRequest("/body/timestamp", "is more than 5 minutes ahead of this service's clock");
  }
  if (typeof deliveryId !== "string" || deliveryId === "" || deliveryId.length > longestDeliveryId) {
    throw invalidRequest(
      "/headers/x-marketplace-delivery-id",
      `is required, with at most ${longestDeliveryId} characters`,
    );
  }
  return apply(receiving, orgAlias, deliveryId, result.event, now);
}

/**
 * The event's own time decides, not the delivery's id: that one isn't signed. Whoever sends a body again under the id of
 * another delivery must neither keep that one from being applied nor fill the table.
 */
async function apply(
  receiving: Receiving,
  orgAlias: string,
  deliveryId: string,
  { app, subscription, occurredAt }: ReceivedEvent,
  now: Date,
): Promise<Outcome> {
  const { database, queue, logger, confirmer, slots } = receiving;
  const { id: subscriptionId, status } = subscription;
  // Replayed deliveries return before the row lock is taken, so they can't delay new events.
  if (!(await isKnownState(database, orgAlias, subscriptionId, occurredAt))) {
    const applyLocked = () =>
      holdingOrganisation(receiving, orgAlias, async (transaction) => {
        const state = { orgAlias, subscriptionId, appSlug: app.slug, status, asOf: occurredAt, now, isListed: false };
        const applied = await applyState(transaction, queue, state);
        if (applied.changed) await insertAppliedDelivery(transaction, orgAlias, deliveryId, now);
        return applied;
      });
    const { changed, fetchNow } = await slots.run(orgAlias, applyLocked).catch((error: unknown) => {
      if (error instanceof Problem) logger.warn({ orgAlias, err: error }, "refused an event of the marketplace");
      throw error;
    });
    if (fetchNow) confirmer.confirmSoon(app.slug);
    if (changed) return "applied";
  }
  return (await isAppliedDelivery(database, orgAlias, deliveryId)) ? "repeated" : "outdated";
}
