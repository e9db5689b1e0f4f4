import { randomUUID } from "node:crypto";
import type { EventApp, SubscriptionEvent, SubscriptionEventName } from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { withClient } from "@ehr-marketplace/test-kit";
import { insertKnownApps } from "@ehr-marketplace/tests/support/known-apps";
import { signBody } from "@ehr-marketplace/webhook-signature";

export const riverside = "riverside-clinic";
export const hilltop = "hilltop-family-practice";

export function secretOf(alias: string): string {
  const found = demoOrganisations.find((organisation) => organisation.alias === alias);
  if (found === undefined) throw new Error(`${alias} is no demo organisation`);
  return found.secret;
}

export const buildApp = (slug: string): EventApp => ({
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug,
  name: `The app ${slug}`,
  iconUrl: `https://icons.example/${slug}.svg`,
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: null,
  fhirScopes: "launch user/Patient.rs",
});

export const storeApps = (ownerUrl: string, slugs: string[]): Promise<void> =>
  insertKnownApps(ownerUrl, slugs.map(buildApp));

const statusAfter = {
  created: "active",
  paused: "paused",
  resumed: "active",
  updated: "active",
  cancelled: "cancelled",
} as const;

interface EventInput {
  what: keyof typeof statusAfter;
  id: string;
  /** The time in milliseconds, by the marketplace's clock. */
  at: number;
  app?: string;
  orgAlias?: string;
  /** The scopes that the organisation has agreed to. */
  fhirScopes?: string;
}

export function eventOf({
  what,
  id,
  at,
  app = "northwind-scribe",
  orgAlias = riverside,
  fhirScopes,
}: EventInput): SubscriptionEvent {
  const event: SubscriptionEventName = `subscription.${what}`;
  const reason = what === "paused" ? { pauseReason: "NON_PAYMENT" } : {};
  return {
    event,
    app: { ...buildApp(app), ...(fhirScopes === undefined ? {} : { fhirScopes }) },
    subscription: { id, status: statusAfter[what], orgAlias, ...reason },
    timestamp: new Date(at).toISOString(),
  };
}

export interface SendOptions {
  /** Text is sent unchanged; other values as JSON. */
  body: unknown;
  secret?: string;
  deliveryId?: string | null;
  signature?: string;
  headers?: Record<string, string>;
}

/** Sends an event like the marketplace: with the spec's headers and the signature of the exact bytes. */
export async function send(url: string, sending: SendOptions): Promise<{ status: number; message: string }> {
  const { body, secret = secretOf(riverside), deliveryId = randomUUID(), headers } = sending;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}/api/internal/marketplace-webhook`, {
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
  const said = (await response.json()) as { success: boolean; message: string; data: null };
  if (said.success !== response.ok || said.data !== null)
    throw new Error(`not in the wrapper: ${JSON.stringify(said)}`);
  return { status: response.status, message: said.message };
}

export interface InstalledRow {
  id: string;
  org_alias: string;
  app_slug: string;
  status: string;
  subscription_id: string;
  encrypted_config: string | null;
  installed_at: Date;
  updated_at: Date;
  removed_at: Date | null;
}

/** All columns but the one that a job changes when it has reported an installation to the marketplace. */
export function readInstallationRows(ownerUrl: string): Promise<InstalledRow[]> {
  return withClient(ownerUrl, async (client) => {
    const found = await client.query<InstalledRow>(
      `select id, org_alias, app_slug, status, subscription_id, encrypted_config, config_secrets, installed_at, updated_at, removed_at
       from installations order by org_alias, app_slug`,
    );
    return found.rows;
  });
}

/** All rows that events can change, to check that nothing changed. */
export function readAllRows(ownerUrl: string): Promise<unknown[]> {
  return withClient(ownerUrl, async (client) => {
    const tables = ["organisations", "apps", "subscriptions", "installations", "applied_deliveries"];
    const all: unknown[] = [];
    for (const table of tables) all.push((await client.query(`select * from ${table} order by 1, 2`)).rows);
    return all;
  });
}
