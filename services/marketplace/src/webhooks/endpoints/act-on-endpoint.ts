import type { AcceptedDelivery, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { Problem, rateLimited } from "@ehr-marketplace/service-kit/http";
import type { ActingForVendor } from "../../access/acting-for-vendor.ts";
import type { Repeatable } from "../../idempotency/once.ts";
import { enableRecipient, queueAgain, recordPing } from "../delivery/act-on-recipient.ts";
import { type Change, type Managing, recordChange, withEndpoint } from "./change-endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { updateEndpoint } from "./endpoint-store.ts";
import { deliveryTo } from "./read-deliveries.ts";
import { endpointOf } from "./read-endpoints.ts";

/** What waited for it is sent. On an active endpoint it changes nothing. */
export async function enableEndpoint(
  managing: Managing,
  by: ActingForVendor,
  id: string,
  repeatable: Repeatable,
): Promise<WebhookEndpointDto> {
  const enable = async (change: Change): Promise<WebhookEndpointDto> => {
    const { transaction, row, now } = change;
    if (row.status === "active") return endpointRecord(row, now);
    await enableRecipient(transaction, managing.queue, row.id, now);
    const enabled = endpointRecord(await endpointOf(transaction, by, row.id), now);
    await recordChange(change, "enable", enabled);
    return enabled;
  };
  return withEndpoint(managing, by, id, enable, repeatable);
}

const maxTestsPerMinute = 10;
const minuteMs = 60_000;

/** Counts one more test. The endpoint's row is locked, so the count is exact over all processes. */
async function countTest({ transaction, row, now }: Change): Promise<void> {
  const recent = row.recent_tests.filter((at) => Math.abs(now.getTime() - at.getTime()) < minuteMs);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= maxTestsPerMinute) {
    const detail = `It has been tested ${maxTestsPerMinute} times within a minute.`;
    const retryAfterMs = oldest.getTime() + minuteMs - now.getTime();
    throw rateLimited(endpointProblems.testedTooOften, detail, { limit: maxTestsPerMinute, retryAfterMs });
  }
  await updateEndpoint(transaction, row.id, { recent_tests: [...recent, now] });
}

/** Sends a `ping`, whether or not the endpoint wants to hear of them. */
export async function testEndpoint(
  managing: Managing,
  by: ActingForVendor,
  id: string,
  repeatable: Repeatable,
): Promise<AcceptedDelivery> {
  const ping = async (change: Change): Promise<AcceptedDelivery> => {
    await countTest(change);
    const deliveryId = await recordPing(change.transaction, managing.queue, change.row, change.now);
    if (deliveryId === undefined) {
      throw new Problem(endpointProblems.testsUnderWay, "100 deliveries outside any subscription are due to it.");
    }
    await recordChange(change, "test", { ...endpointRecord(change.row, change.now), deliveryId });
    return { deliveryId };
  };
  return withEndpoint(managing, by, id, ping, repeatable);
}

/** Sends a settled delivery again, under the id that it has. */
export async function redeliver(
  managing: Managing,
  by: ActingForVendor,
  of: { endpointId: string; deliveryId: string },
  repeatable: Repeatable,
): Promise<AcceptedDelivery> {
  const again = async (change: Change): Promise<AcceptedDelivery> => {
    const { transaction, row, now } = change;
    const { id: deliveryId, status } = await deliveryTo(transaction, row.id, of.deliveryId);
    if (!(await queueAgain(transaction, managing.queue, deliveryId))) {
      throw new Problem(endpointProblems.deliveryUnderWay, `Delivery ${deliveryId} is ${status}.`);
    }
    await recordChange(change, "redeliver", { ...endpointRecord(row, now), deliveryId });
    return { deliveryId };
  };
  return withEndpoint(managing, by, of.endpointId, again, repeatable);
}
