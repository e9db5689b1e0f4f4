import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { AppClientDto } from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { type CleanUp, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type ClientMarketplace, startClientMarketplace } from "@ehr-marketplace/tests/support/client-marketplace";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { signBody } from "@ehr-marketplace/webhook-signature";
import type { Realm } from "./realm.ts";

/** An EHR service that registers clients at Keycloak. */
export interface Practice {
  marketplace: ClientMarketplace;
  /** Sends the event of a new subscription, as the marketplace does; returns its id. */
  subscribe(slug: string, nth?: number): Promise<string>;
  cancel(slug: string, id: string, nth?: number): Promise<void>;
  clientsOf(slug: string): Promise<AppClientDto[]>;
  /** Waits until the app's only client is as described. */
  clientWhen(slug: string, what: string, condition: (client: AppClientDto) => boolean): Promise<AppClientDto>;
  /** As the operator: what was done about a client. */
  settle(method: "POST" | "DELETE", path: string): Promise<void>;
  /** Runs what the hourly job would request, as if the metadata had been fetched long ago. */
  refresh(slug: string): Promise<void>;
}

export const isReady = ({ status }: AppClientDto): boolean => status === "ready";
export const patienceMs = 120_000;

export async function startPractice(cleanUp: CleanUp, realm: Realm, initialToken: string): Promise<Practice> {
  const callers = await fetchCallers();
  const marketplace = await startClientMarketplace(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  const { url } = await startEhr(cleanUp, serviceUrl, {
    ...callers.environment,
    ...marketplace.environment,
    CLIENT_REGISTRATION: "dcr",
    CLIENT_REGISTRATION_URL: realm.registrationUrl,
    CLIENT_REGISTRATION_TOKEN: initialToken,
  });
  const { queue } = await connectAsService(cleanUp, serviceUrl);

  async function sendEvent(what: "created" | "cancelled", slug: string, id: string, nth: number): Promise<void> {
    const { alias, secret } = demoOrganisations[nth] ?? assert.fail(`there is no demo organisation ${nth}`);
    const body = JSON.stringify({
      event: `subscription.${what}`,
      app: { slug },
      subscription: { id, status: what === "created" ? "active" : "cancelled", orgAlias: alias },
      timestamp: new Date().toISOString(),
    });
    const sent = await fetch(`${url}/api/internal/marketplace-webhook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-marketplace-signature": signBody(body, secret),
        "x-marketplace-delivery-id": randomUUID(),
      },
      body,
    });
    assert.equal(sent.status, 200, await sent.text());
  }
  const clientsOf = async (slug: string): Promise<AppClientDto[]> => {
    const listed = await sendRequest(`${url}/api/admin/clients?limit=100`, callers.token("operator"), {});
    const { data } = (await listed.json()) as { data: { items: AppClientDto[] } };
    return data.items.filter(({ appSlug }) => appSlug === slug);
  };
  return {
    marketplace,
    clientsOf,
    async subscribe(slug, nth = 0) {
      const id = randomUUID();
      await sendEvent("created", slug, id, nth);
      return id;
    },
    cancel: (slug, id, nth = 0) => sendEvent("cancelled", slug, id, nth),
    async clientWhen(slug, what, condition) {
      let found: AppClientDto[] = [];
      await eventually(`${slug}: ${what}`, patienceMs, async () => {
        found = await clientsOf(slug);
        return found.length === 1 && found.every(condition);
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
      });
      return found[0] ?? assert.fail();
    },
    async settle(method, path) {
      const response = await sendRequest(`${url}/api/admin/clients/${path}`, callers.token("operator"), { method });
      assert.ok(response.ok, await response.text());
    },
    async refresh(slug) {
      await withClient(ownerUrl, (client) =>
        client.query("update client_metadata set fetched_at = fetched_at - interval '1 hour'"),
      );
      await queue.boss().send("client-registrations", { refresh: slug }, { singletonKey: `refresh ${slug}` });
    },
  };
}
