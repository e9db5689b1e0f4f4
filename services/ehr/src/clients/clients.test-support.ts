import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { AppClientDto, AppClientGrantDto, InstallationDto } from "@ehr-marketplace/contracts";
import { type CleanUp, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type ClientMarketplace, startClientMarketplace } from "@ehr-marketplace/tests/support/client-marketplace";
import type { RegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { dataOf, type Practice, riverside, startPractice } from "../installations/installations.test-support.ts";
import { eventOf, secretOf, send } from "../marketplace-events/events.test-support.ts";
import { requestClientJobs } from "./request-client-job.ts";

export interface ClientTest extends Practice {
  marketplace: ClientMarketplace;
  rows<T extends object>(statement: string, values?: unknown[]): Promise<T[]>;
  /** Sends the event of a new subscription, as the marketplace does; returns its id. */
  subscribe(slug: string, orgAlias?: string): Promise<string>;
  change(what: "paused" | "resumed" | "cancelled", slug: string, id: string, orgAlias?: string): Promise<void>;
  clientsOf(slug: string): Promise<AppClientDto[]>;
  /** Waits until the app's only client is as described. */
  clientWhen(slug: string, what: string, condition: (client: AppClientDto) => boolean): Promise<AppClientDto>;
  grantOf(clientId: string, orgAlias?: string): Promise<AppClientGrantDto>;
  connectionOf(slug: string): Promise<InstallationDto["connection"]>;
  /** Waits until the installation shows this connection: processes hear of a change a moment after it. */
  connectionBecomes(slug: string, expected: InstallationDto["connection"]): Promise<void>;
  /** Runs what the hourly job would request, as if the metadata had been fetched long ago. */
  refresh(slug: string): Promise<void>;
  /** Waits until no job is queued or running. */
  jobsEnd(): Promise<void>;
  /** Lets the app's jobs that wait for their retry start now. */
  retryNow(): Promise<void>;
}

export async function startClientTest(
  cleanUp: CleanUp,
  environment: Record<string, string> = {},
  server?: RegistrationServer,
): Promise<ClientTest> {
  const marketplace = await startClientMarketplace(cleanUp);
  const practice = await startPractice(cleanUp, { ...marketplace.environment, ...server?.environment, ...environment });
  const { ownerUrl } = practice.database;
  const { queue } = await connectAsService<DB>(cleanUp, practice.database.serviceUrl);
  const rows = async <T extends object>(statement: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(statement, values))).rows;
  const event = async (what: Parameters<typeof eventOf>[0]["what"], slug: string, id: string, orgAlias: string) => {
    const body = eventOf({ what, id, at: Date.now(), app: slug, orgAlias });
    const sent = await send(practice.ehr.url, { body, secret: secretOf(orgAlias) });
    assert.equal(sent.status, 200, sent.message);
  };
  const clientsOf = async (slug: string): Promise<AppClientDto[]> => {
    const listed = await practice.as("operator", "/admin/clients?limit=200");
    const { items } = await dataOf<{ items: AppClientDto[] }>(listed);
    return items.filter(({ appSlug }) => appSlug === slug);
  };
  const retryNow = async (): Promise<void> => {
    await rows("update pgboss.job set start_after = now() where state in ('created', 'retry') and start_after > now()");
  };
  const connectionOf = async (slug: string): Promise<InstallationDto["connection"]> =>
    (await dataOf<InstallationDto>(await practice.as("riverside-member", `/app-installations/${slug}`))).connection;
  return {
    ...practice,
    marketplace,
    rows,
    async subscribe(slug, orgAlias = riverside) {
      const id = randomUUID();
      await event("created", slug, id, orgAlias);
      return id;
    },
    change: (what, slug, id, orgAlias = riverside) => event(what, slug, id, orgAlias),
    clientsOf,
    async clientWhen(slug, what, condition) {
      let found: AppClientDto[] = [];
      await eventually(`${slug}: ${what}`, 30_000, async () => {
        found = await clientsOf(slug);
        return found.length === 1 && found.every(condition);
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
      });
      return found[0] ?? assert.fail();
    },
    async grantOf(clientId, orgAlias = riverside) {
      const query = new URLSearchParams({ clientId, orgAlias });
      const response = await practice.as("launch-redeemer", `/internal/app-clients?${query.toString()}`);
      assert.equal(response.headers.get("cache-control"), "private, max-age=60");
      return dataOf<AppClientGrantDto>(response);
    },
    connectionOf,
    connectionBecomes: (slug, expected) =>
      eventually(`${slug} shows ${JSON.stringify(expected)}`, 30_000, async () =>
        isDeepStrictEqual(await connectionOf(slug), expected),
      ),
    async refresh(slug) {
      await rows("update client_metadata set fetched_at = fetched_at - interval '1 hour'");
      await requestClientJobs(queue, [{ refresh: slug }]);
    },
    retryNow,
    jobsEnd: () =>
      eventually("no job is left", 30_000, async () => {
        await retryNow();
        const left =
          "select from pgboss.job where name in ('client-registrations', 'connection-reports') and state < 'completed'";
        return (await rows(left)).length === 0;
      }),
  };
}
