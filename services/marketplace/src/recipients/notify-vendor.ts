import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recordNotice } from "../notices/record-notice.ts";
import type { RecipientState } from "./recipient.ts";
import { findEndpoint } from "./recipient-store.ts";

/** Tells the vendor that its endpoint is held or disabled. Of the URL only the host: the rest may contain secrets. */
export async function notifyVendor(transaction: Transaction<DB>, id: string, state: RecipientState): Promise<void> {
  const since = state.status === "disabled" ? state.disabledAt : state.heldSince;
  if (state.status === "active" || since === null) return;
  const endpoint = await findEndpoint(transaction, id);
  if (endpoint === undefined) return;
  const host = URL.parse(endpoint.url)?.host ?? "";
  await recordNotice(transaction, {
    audience: { vendorId: endpoint.vendor_id },
    ...(state.status === "disabled"
      ? {
          kind: "endpoint-disabled",
          severity: "critical",
          subject: `Webhook endpoint at ${host} is disabled`,
          detail: `Nothing is sent to it, because ${state.disabledReason}. Repair it and enable it: waiting events are then sent.`,
        }
      : {
          kind: "endpoint-held",
          severity: "warning",
          subject: `Webhook endpoint at ${host} is failing`,
          detail: "Events wait until it responds, and after five days of failures it is disabled. See its deliveries.",
        }),
    link: null,
    // Once a day: an endpoint may fail, recover and fail.
    key: `endpoint-${state.status}:${id}:${since.toISOString().slice(0, 10)}`,
    at: since,
  });
}
