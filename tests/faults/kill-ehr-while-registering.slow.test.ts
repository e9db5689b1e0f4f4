import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { clientMetadataOf, startClientMarketplace } from "@ehr-marketplace/tests/support/client-marketplace";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { type ServiceProcess, startEhrProcess } from "@ehr-marketplace/tests/support/service-process";
import { signBody } from "@ehr-marketplace/webhook-signature";

const slug = "northwind-scribe";
const [practice] = demoOrganisations;

interface ClientRow {
  status: string;
  task: string | null;
  attempt: string | null;
  client_id: string | null;
}

interface Scene {
  server: RegistrationServer;
  start(): Promise<ServiceProcess>;
  subscribe(victim: ServiceProcess): Promise<string>;
  cancel(victim: ServiceProcess, id: string): Promise<void>;
  changeMetadata(): Promise<void>;
  clients(): Promise<ClientRow[]>;
  /** Resolves once the only client has this status. */
  clientIs(status: string): Promise<ClientRow>;
  rows<T extends object>(statement: string, values?: unknown[]): Promise<T[]>;
  /** Locks rows until the test says so. Resolves once they are locked. */
  lock(statement: string): Promise<{ release(): Promise<void> }>;
  /** As if the dead process's jobs and attempts had been left a long time ago. */
  pass(): Promise<void>;
}

async function prepare(cleanUp: CleanUp): Promise<Scene> {
  const marketplace = await startClientMarketplace(cleanUp);
  const server = await startRegistrationServer(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "ehr");
  marketplace.publish(slug);
  const { queue } = await connectAsService(cleanUp, serviceUrl);
  const rows = async <T extends object>(statement: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(statement, values))).rows;
  const send = async ({ url }: ServiceProcess, what: "created" | "cancelled", id: string): Promise<void> => {
    const { alias, secret } = practice ?? assert.fail("no demo organisation");
    const status = what === "created" ? "active" : "cancelled";
    const body = JSON.stringify({
      event: `subscription.${what}`,
      app: { slug },
      subscription: { id, status, orgAlias: alias },
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
  };
  const clients = (): Promise<ClientRow[]> => rows("select status, task, attempt, client_id from clients");
  return {
    server,
    rows,
    clients,
    start: () =>
      startEhrProcess(cleanUp, serviceUrl, {
        marketplaceUrl: marketplace.url.replace("/api/v1", ""),
        environment: { ...marketplace.environment, ...server.environment, LOG_LEVEL: "error" },
      }),
    async subscribe(victim) {
      const id = randomUUID();
      await send(victim, "created", id);
      return id;
    },
    cancel: (victim, id) => send(victim, "cancelled", id),
    async changeMetadata() {
      marketplace.publish(slug, {}, clientMetadataOf(slug, { software_version: "2.0.0" }));
      await rows("update client_metadata set fetched_at = fetched_at - interval '1 hour'");
      await queue.boss().send("client-registrations", { refresh: slug }, { singletonKey: `refresh ${slug}` });
    },
    async clientIs(status) {
      let found: ClientRow[] = [];
      await eventually(`the client is ${status}`, 60_000, async () => {
        found = await clients();
        return (
          found.length === 1 && found[0]?.status === status && (status === "uncertain" || found[0].attempt === null)
        );
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
      });
      return found[0] ?? assert.fail();
    },
    async lock(statement) {
      const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const ended = withClient(ownerUrl, async (client) => {
        await client.query("begin");
        await client.query(statement);
        locked.resolve();
        await released.promise;
        await client.query("commit");
      });
      await locked.promise;
      return {
        async release() {
          released.resolve();
          await ended;
        },
      };
    },
    async pass() {
      await rows("update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'");
      await rows("update clients set attempted_at = attempted_at - interval '1 hour'");
    },
  };
}

/** Kills the process as soon as the authorization server has this request, before or after doing what it says. */
function killAt(victim: ServiceProcess, server: RegistrationServer, method: string, isDone: boolean): void {
  server.interfere = (request, _response, proceed) => {
    if (request.method !== method) return false;
    server.interfere = () => false;
    if (isDone) proceed();
    victim.child.kill("SIGKILL");
    return true;
  };
}

// The tests mostly wait for processes, and use separate databases, so they run concurrently.
describe("after kill -9 while a client is connected", { concurrency: 2 }, () => {
  for (const [what, isDone] of [
    ["the request to register it was received, and not processed", false],
    ["it was registered, and the response not received", true],
  ] as const) {
    test(`${what}: it is uncertain, and isn't registered again`, async (t) => {
      const scene = await prepare(cleanUpAfter(t));
      const { server } = scene;
      const victim = await scene.start();
      killAt(victim, server, "POST", isDone);
      await scene.subscribe(victim);
      await victim.exited;
      assert.deepEqual(
        (await scene.clients()).map(({ status, attempt }) => [status, attempt]),
        [["pending", "register"]],
      );
      await scene.start();
      await scene.pass();
      const { task, client_id } = await scene.clientIs("uncertain");
      assert.deepEqual([task, client_id], ["check", null]);
      await scene.changeMetadata();
      await eventually("no job is left", 60_000, async () => {
        const left = "select from pgboss.job where name = 'client-registrations' and state < 'completed'";
        return (await scene.rows(left)).length === 0;
      });
      assert.equal(server.requests.filter(({ method }) => method === "POST").length, 1);
      assert.equal(server.clients.size, isDone ? 1 : 0);
    });
  }

  test("the response was received, and not stored: it is uncertain, and isn't registered again", async (t) => {
    const scene = await prepare(cleanUpAfter(t));
    const { server } = scene;
    const victim = await scene.start();
    let lock: Awaited<ReturnType<Scene["lock"]>> | undefined;
    const isWaiting = async (): Promise<boolean> => {
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return (await scene.rows(waiting)).length > 0;
    };
    // The lock on the row delays storing the result, so that the process is killed before.
    server.interfere = async ({ method }) => {
      if (method === "POST") lock = await scene.lock("select from clients for update");
      return false;
    };
    await scene.subscribe(victim);
    await eventually("the process waits to store the result", 60_000, isWaiting);
    victim.child.kill("SIGKILL");
    await victim.exited;
    await lock?.release();
    await scene.start();
    await scene.pass();
    await scene.clientIs("uncertain");
    assert.equal(server.clients.size, 1, "the operator finds it");
    assert.equal(server.registeredIds.length, 1);
  });

  test("it was updated, and the response not received: an operator is told, since its token is lost", async (t) => {
    const scene = await prepare(cleanUpAfter(t));
    const { server } = scene;
    const victim = await scene.start();
    await scene.subscribe(victim);
    const { client_id } = await scene.clientIs("ready");
    killAt(victim, server, "PUT", true);
    await scene.changeMetadata();
    await victim.exited;
    await scene.start();
    await scene.pass();
    const uncertain = await scene.clientIs("uncertain");
    assert.deepEqual([uncertain.attempt, uncertain.client_id], ["update", client_id]);
    assert.deepEqual([...server.clients.keys()], [client_id]);
  });

  test("the request to update it was received, and not processed: the next process updates it", async (t) => {
    const scene = await prepare(cleanUpAfter(t));
    const { server } = scene;
    const victim = await scene.start();
    await scene.subscribe(victim);
    const { client_id } = await scene.clientIs("ready");
    killAt(victim, server, "PUT", false);
    await scene.changeMetadata();
    await victim.exited;
    await scene.start();
    await scene.pass();
    await eventually("it is updated", 60_000, () => {
      return server.clients.get(client_id ?? "")?.metadata["software_version"] === "2.0.0";
    });
    assert.equal((await scene.clientIs("ready")).client_id, client_id);
  });

  for (const isDone of [false, true]) {
    const what = isDone
      ? "it was removed, and the response not received"
      : "the request to remove it was not processed";
    test(`${what}: it is gone at both, and isn't registered again`, async (t) => {
      const scene = await prepare(cleanUpAfter(t));
      const { server } = scene;
      const victim = await scene.start();
      const id = await scene.subscribe(victim);
      await scene.clientIs("ready");
      killAt(victim, server, "DELETE", isDone);
      await scene.cancel(victim, id);
      await victim.exited;
      await scene.start();
      await scene.pass();
      await eventually("it is gone here", 60_000, async () => (await scene.clients()).length === 0);
      assert.equal(server.clients.size, 0);
      assert.equal(server.registeredIds.length, 1);
    });
  }
});
