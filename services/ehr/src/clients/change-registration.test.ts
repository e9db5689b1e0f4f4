import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { hilltop, install, riverside } from "../installations/installations.test-support.ts";
import { clientRegistrations } from "../queues.ts";
import type { ClientDeps } from "./advance-client.ts";
import { createServerClient } from "./authorization-server.ts";
import { reasons } from "./client.ts";
import { createClientCache } from "./client-cache.ts";
import { runClientJob } from "./client-jobs.ts";
import { createClientRegistrar } from "./client-registrar.ts";
import { deleteClient, retryClient } from "./manage-clients.ts";
import { createClientMetadataParser } from "./parse-client-metadata.ts";
import type { ClientJob } from "./request-client-job.ts";

const operator = {
  issuer: "https://id.example",
  subject: "operator",
  role: "operator",
  requestId: "a-request",
} as const;

interface ClientRow {
  org_alias: string | null;
  method: string;
  status: string;
  client_id: string | null;
}

describe("another CLIENT_REGISTRATION or CLIENT_REGISTRATION_PER, within the hour", () => {
  const cleanUp = cleanUpAfter();
  let server: RegistrationServer;
  let connected: ServiceConnection<DB>;
  let ownerUrl: string;
  before(async () => {
    server = await startRegistrationServer(cleanUp);
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
  });
  const rows = async <T extends object>(statement: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(statement, values))).rows;
  const clientsOf = (slug: string): Promise<ClientRow[]> =>
    rows("select org_alias, method, status, client_id from clients where app_slug = $1 order by org_alias", slug);
  const parse = createClientMetadataParser({ allowsHttp: false });

  type Settings = Pick<ClientDeps, "method" | "per"> & { at?: RegistrationServer };
  const depsFor = ({ method, per, at = server }: Settings): ClientDeps => ({
    ...connected,
    method,
    per,
    encryption: createEncryption(parseEncryptionKeys(developmentEncryptionKeys)),
    reports: false,
    registrar: createClientRegistrar({
      url: method === "dcr" ? at.url : "",
      token: at.environment["CLIENT_REGISTRATION_TOKEN"] ?? "",
      send: createServerClient(),
    }),
    fetchMetadata: (appSlug) => {
      const metadata = parse(clientMetadataOf(appSlug), appSlug);
      assert.ok(!("error" in metadata));
      return Promise.resolve({ kind: "found", metadata, etag: null });
    },
  });
  /** Runs the hourly job of the app, and all that it requests, with these settings. */
  const runHourly = async (slug: string, settings: Settings): Promise<void> => {
    const deps = depsFor(settings);
    await runClientJob(deps, { refresh: slug });
    await runJobs(deps);
  };
  const runJobs = async (deps: ClientDeps): Promise<void> => {
    const takeJobs = () =>
      rows<{ data: ClientJob }>("delete from pgboss.job where name = $1 returning data", clientRegistrations);
    for (let jobs = await takeJobs(); jobs.length > 0; jobs = await takeJobs()) {
      for (const { data } of jobs) await runClientJob(deps, data);
    }
  };
  const installFor = async (slug: string, ...aliases: string[]): Promise<void> => {
    for (const orgAlias of aliases) await install(ownerUrl, { slug, orgAlias, schema: null });
  };

  test("replaces the clients of organisations by one for all, and the other way round", async () => {
    const slug = "switched";
    await installFor(slug, riverside, hilltop);
    await runHourly(slug, { method: "dcr", per: "organisation" });
    assert.deepEqual(
      (await clientsOf(slug)).map(({ org_alias, status }) => [org_alias, status]),
      [
        [hilltop, "ready"],
        [riverside, "ready"],
      ],
    );
    assert.equal(server.clients.size, 2);
    await runHourly(slug, { method: "dcr", per: "app" });
    const [shared, ...others] = await clientsOf(slug);
    assert.deepEqual([shared?.org_alias, shared?.status, others], [null, "ready", []]);
    assert.deepEqual([...server.clients.keys()], [shared?.client_id]);
    await runHourly(slug, { method: "dcr", per: "organisation" });
    assert.deepEqual(
      (await clientsOf(slug)).map(({ org_alias }) => org_alias),
      [hilltop, riverside],
    );
    assert.equal(server.clients.size, 2);
    await rows("update installations set status = 'removed', removed_at = now() where app_slug = $1", slug);
    await runHourly(slug, { method: "dcr", per: "organisation" });
    assert.deepEqual(await clientsOf(slug), []);
    assert.equal(server.clients.size, 0);
  });

  test("says why an operator has to remove a client that others replace", async () => {
    const slug = "switched-by-hand";
    await installFor(slug, riverside);
    await runHourly(slug, { method: "manual", per: "app" });
    await rows(
      `update clients set status = 'ready', task = null, reason = null, client_id = 'shared', registered_sha256 = repeat('0', 64)
       where app_slug = $1`,
      slug,
    );
    await runHourly(slug, { method: "manual", per: "organisation" });
    const tasks = await rows(
      "select org_alias, task, reason from clients where app_slug = $1 order by org_alias",
      slug,
    );
    assert.deepEqual(tasks, [
      { org_alias: riverside, task: "register", reason: reasons.toRegister },
      { org_alias: null, task: "remove", reason: reasons.toReplace },
    ]);
    await rows("update installations set status = 'removed', removed_at = now() where app_slug = $1", slug);
    await runHourly(slug, { method: "manual", per: "organisation" });
    const [task] = await rows<{ reason: string }>("select reason from clients where app_slug = $1", slug);
    assert.equal(task?.reason, reasons.toRemove);
  });

  test("registers what operators have not registered yet, and leaves the rest as it is", async () => {
    const [waiting, registered] = ["waiting", "registered"];
    for (const slug of [waiting, registered]) {
      await installFor(slug, riverside);
      await runHourly(slug, { method: "manual", per: "app" });
    }
    const sha256 = "(select sha256 from client_metadata where app_slug = $1)";
    await rows(
      `update clients set status = 'ready', task = null, reason = null, client_id = 'by-hand', registered_sha256 = ${sha256}
       where app_slug = $1`,
      registered,
    );
    for (const slug of [waiting, registered]) await runHourly(slug, { method: "dcr", per: "app" });
    const [byService] = await clientsOf(waiting);
    assert.deepEqual([byService?.method, byService?.status], ["dcr", "ready"]);
    const [byHand] = await clientsOf(registered);
    assert.deepEqual([byHand?.method, byHand?.status, byHand?.client_id], ["manual", "ready", "by-hand"]);
    // The other way round, too: this service still removes what it registered.
    await runHourly(waiting, { method: "manual", per: "app" });
    assert.deepEqual(await clientsOf(waiting), [byService]);
    await rows("update installations set status = 'removed', removed_at = now() where app_slug = $1", waiting);
    await runHourly(waiting, { method: "manual", per: "app" });
    assert.deepEqual(await clientsOf(waiting), []);
    assert.equal(server.clients.has(byService?.client_id ?? ""), false);
  });

  for (const [what, changes, isUsable] of [
    ["redirect URIs", { redirect_uris: ["https://evil.example/callback"] }, false],
    ["authentication methods", { token_endpoint_auth_method: "client_secret_basic" }, false],
    ["scopes", { scope: "launch" }, true],
  ] as const) {
    test(`leaves a client to an operator whose update has other ${what} than requested, ${isUsable ? "usable" : "inactive"}`, async () => {
      const slug = `changed-${what.toLowerCase().replaceAll(" ", "-")}`;
      const settings = { method: "dcr", per: "app" } as const;
      const deps = depsFor(settings);
      await installFor(slug, riverside);
      await runHourly(slug, settings);
      const [{ id, client_id: clientId } = assert.fail()] = await rows<{ id: string; client_id: string }>(
        "select id, client_id from clients where app_slug = $1",
        slug,
      );
      const cache = createClientCache(connected.database, 10_000);
      server.interfere = ({ method }, response, proceed) => {
        if (method !== "PUT") return false;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ ...(proceed().body as object), ...changes }));
        return true;
      };
      // As if the vendor had published other metadata.
      await rows("update clients set registered_sha256 = repeat('0', 64) where id = $1", id);
      await runHourly(slug, settings);
      const [uncertain] = await rows<{ status: string; task: string; attempt: string; reason: string }>(
        "select status, task, attempt, reason from clients where id = $1",
        id,
      );
      assert.deepEqual([uncertain?.status, uncertain?.task, uncertain?.attempt], ["uncertain", "check", "update"]);
      assert.match(uncertain?.reason ?? "", /other values than requested/);
      assert.equal((await cache.find(clientId)) !== undefined, isUsable);
      await retryClient(deps, operator, id);
      assert.equal((await cache.find(clientId)) !== undefined, isUsable, "until it is updated");
      await runJobs(deps);
      assert.equal((await clientsOf(slug))[0]?.status, "uncertain", "the server responds as before");
      server.interfere = () => false;
      await retryClient(deps, operator, id);
      await runJobs(deps);
      const [ready] = await clientsOf(slug);
      assert.deepEqual([ready?.method, ready?.status, ready?.client_id], ["dcr", "ready", clientId]);
      assert.ok((await cache.find(clientId)) !== undefined);
    });
  }

  for (const [what, settings] of [
    ["at another server", { method: "dcr", per: "app" }],
    ["by operators", { method: "manual", per: "app" }],
    ["from the marketplace's documents", { method: "cimd", per: "app" }],
  ] as const) {
    test(`moves a client that this service registered, ${what}, once an operator retries and deletes it`, async () => {
      const slug = `moved-${settings.method}`;
      await installFor(slug, riverside);
      await runHourly(slug, { method: "dcr", per: "app" });
      const [old] = await clientsOf(slug);
      const other = await startRegistrationServer(cleanUp);
      const deps = depsFor({ ...settings, at: other });
      await runHourly(slug, { ...settings, at: other });
      assert.deepEqual(await clientsOf(slug), [old], "it works as before");
      const [{ id } = assert.fail()] = await rows<{ id: string }>("select id from clients where app_slug = $1", slug);
      const earlier = server.requests.length;
      await retryClient(deps, operator, id);
      await runJobs(deps);
      const [uncertain] = await clientsOf(slug);
      assert.deepEqual([uncertain?.status, uncertain?.client_id], ["uncertain", old?.client_id]);
      assert.equal(server.requests.length, earlier, "the earlier server needs not be there");
      await deleteClient(deps, operator, id);
      await runJobs(deps);
      const [moved] = await clientsOf(slug);
      assert.deepEqual(
        [moved?.method, moved?.status],
        [settings.method, settings.method === "manual" ? "pending" : "ready"],
      );
      assert.deepEqual([...other.clients.keys()], settings.method === "dcr" ? [moved?.client_id] : []);
    });
  }

  test("replaces the marketplace's documents, which leave nothing behind", async () => {
    const slug = "documented";
    await installFor(slug, riverside);
    await runHourly(slug, { method: "cimd", per: "app" });
    const [documented] = await clientsOf(slug);
    assert.deepEqual([documented?.method, documented?.client_id], ["cimd", clientMetadataOf(slug)["client_id"]]);
    await runHourly(slug, { method: "dcr", per: "app" });
    const [registered] = await clientsOf(slug);
    assert.deepEqual([registered?.method, registered?.status], ["dcr", "ready"]);
    assert.ok(server.clients.has(registered?.client_id ?? ""));
  });
});
