import { randomUUID } from "node:crypto";
import type { EventApp, SubscriptionEvent, SubscriptionEventName } from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { insertKnownApps } from "@ehr-marketplace/tests/support";
import { signBody } from "@ehr-marketplace/webhook-signature";

export const riverside = "riverside-clinic";
export const hilltop = "hilltop-family-practice";

export function secretOf(alias: string): string {
  const found = demoOrganisations.find((organisation) => organisation.alias === alias);
  if (found === undefined) throw new Error(`${alias} is no demo organisation`);
  return found.secret;
}

export const appCalled = (slug: string): EventApp => ({
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug,
  name: `The app ${slug}`,
  iconUrl: `https://icons.example/${slug}.svg`,
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: null,
  fhirScopes: "launch user/Patient.rs",
});

export const knowApps = (ownerUrl: string, slugs: string[]): Promise<void> =>
  insertKnownApps(ownerUrl, slugs.map(appCalled));

const statusAfter = { created: "active", paused: "paused", resumed: "active", cancelled: "cancelled" } as const;

interface Told {
  what: keyof typeof statusAfter;
  id: string;
  /** Milliseconds of the marketplace's clock. */
  at: number;
  app?: string;
  orgAlias?: string;
}

export function eventOf({ what, id, at, app = "northwind-scribe", orgAlias = riverside }: Told): SubscriptionEvent {
  const event: SubscriptionEventName = `subscription.${what}`;
  const reason = what === "paused" ? { pauseReason: "NON_PAYMENT" } : {};
  return {
    event,
    app: appCalled(app),
    subscription: { id, status: statusAfter[what], orgAlias, ...reason },
    timestamp: new Date(at).toISOString(),
  };
}

export interface Sending {
  /** Sent as they are; what is no text is written as JSON. */
  body: unknown;
  secret?: string;
  deliveryId?: string | null;
  signature?: string;
  headers?: Record<string, string>;
}

/** As the marketplace does it: the spec's headers, and the signature of the very bytes. */
export async function send(url: string, sending: Sending): Promise<{ status: number; message: string }> {
  const { body, secret = secretOf(riverside), deliveryId = randomUUID(), headers } = sending;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(`${url}/api/internal/marketplace-webhook`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-marketplace-event": "subscription.created",
      "x-marketplace-signature": sending.signature ?? signBody(text, secret),
      ...(deliveryId === null ? {} : { "x-marketplace-delivery-id": deliveryId }),
      ...headers,
    },
    body: text,
  });
  const said = (await answer.json()) as { success: boolean; message: string; data: null };
  if (said.success !== answer.ok || said.data !== null) throw new Error(`not in the wrapper: ${JSON.stringify(said)}`);
  return { status: answer.status, message: said.message };
}

export interface InstalledRow {
  id: string;
  org_alias: string;
  app_slug: string;
  status: string;
  subscription_id: string;
  sealed_config: string | null;
  installed_at: Date;
  updated_at: Date;
  removed_at: Date | null;
}

export function installationsIn(ownerUrl: string): Promise<InstalledRow[]> {
  return withClient(ownerUrl, async (client) => {
    const found = await client.query<InstalledRow>("select * from installations order by org_alias, app_slug");
    return found.rows;
  });
}

/** All that events may change, to see that they changed nothing. */
export function everythingIn(ownerUrl: string): Promise<unknown[]> {
  return withClient(ownerUrl, async (client) => {
    const tables = ["organisations", "apps", "subscriptions", "installations", "applied_deliveries"];
    const all: unknown[] = [];
    for (const table of tables) all.push((await client.query(`select * from ${table} order by 1, 2`)).rows);
    return all;
  });
}
