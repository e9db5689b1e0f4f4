import type { AcceptedDelivery, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { Problem, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { VendorContext } from "../access/vendor-context.ts";
import { redeliverById } from "../delivery/redeliver.ts";
import { recordPing } from "../events/record-event.ts";
import type { IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { type Change, type EndpointDeps, recordChange, withEndpoint } from "./change-endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { updateEndpoint } from "./endpoint-store.ts";
import { getDeliveryRow } from "./read-deliveries.ts";
import { getEndpointRow } from "./read-endpoints.ts";

/** Reactivates the endpoint and sends its waiting deliveries. Does nothing on an active endpoint. */
export async function enableEndpoint(
  deps: EndpointDeps,
  by: VendorContext,
  id: string,
  repeatable: IdempotentRequest,
): Promise<WebhookEndpointDto> {
  const enable = async (change: Change): Promise<WebhookEndpointDto> => {
    const { transaction, row, now } = change;
    if (row.status === "active") return endpointRecord(row, now);
    await applyRecipientEvent(transaction, deps.queue, row.id, { type: "enabled", at: now });
    const enabled = endpointRecord(await getEndpointRow(transaction, by, row.id), now);
    await recordChange(change, "enable", enabled);
    return enabled;
  };
  return withEndpoint(deps, by, id, enable, repeatable);
}

const maxTestsPerMinute = 10;
const minuteMs = 60_000;

/** Counts one more test. The endpoint's row is locked, so the count is exact over all processes. */
async function countTest({ transaction, row, now }: Change): Promise<void> {
  const recent = row.recent_tests.filter((at) => Math.abs(now.getTime() - at.getTime()) < minuteMs);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= maxTestsPerMinute) {
    const detail = `The endpoint has been tested ${maxTestsPerMinute} times within the last minute.`;
    const retryAfterMs = oldest.getTime() + minuteMs - now.getTime();
    throw rateLimitProblem(endpointProblems.testedTooOften, detail, { limit: maxTestsPerMinute, retryAfterMs });
  }
  await updateEndpoint(transaction, row.id, { recent_tests: [...recent, now] });
}

/** Sends a `ping`, also when the endpoint doesn't select that event. */
export async function testEndpoint(
  deps: EndpointDeps,
  by: VendorContext,
  id: string,
  repeatable: IdempotentRequest,
): Promise<AcceptedDelivery> {
  const ping = async (change: Change): Promise<AcceptedDelivery> => {
    await countTest(change);
    const deliveryId = await recordPing(change.transaction, deps.queue, change.row, change.now);
    if (deliveryId === undefined) {
      throw new Problem(endpointProblems.testsUnderWay, "The endpoint has 100 undelivered pings.");
    }
    const endpoint = endpointRecord(change.row, change.now);
    await recordChange(change, "test", { ...endpoint, deliveryId });
    return { deliveryId, endpointStatus: endpoint.status };
  };
  return withEndpoint(deps, by, id, ping, repeatable);
}

const reasonsToWait: Record<WebhookEndpointDto["status"], string> = {
  active: "",
  held: ": its endpoint is held, and the delivery is sent when the endpoint responds again",
  disabled: ": its endpoint is disabled, and has to be enabled",
};

/** Queues a settled delivery once more, under its id. */
export async function requestRedelivery(
  deps: EndpointDeps,
  by: VendorContext,
  of: { endpointId: string; deliveryId: string },
  repeatable: IdempotentRequest,
): Promise<AcceptedDelivery> {
  const redeliver = async (change: Change): Promise<AcceptedDelivery> => {
    const { transaction, row, now } = change;
    const endpoint = endpointRecord(row, now);
    const { id: deliveryId, status } = await getDeliveryRow(transaction, row.id, of.deliveryId);
    if (!(await redeliverById(transaction, deps.queue, deliveryId))) {
      const reason = status === "waiting" ? reasonsToWait[endpoint.status] : "";
      throw new Problem(endpointProblems.deliveryUnderWay, `Delivery ${deliveryId} is ${status}${reason}.`);
    }
    await recordChange(change, "redeliver", { ...endpoint, deliveryId });
    return { deliveryId, endpointStatus: endpoint.status };
  };
  return withEndpoint(deps, by, of.endpointId, redeliver, repeatable);
}
