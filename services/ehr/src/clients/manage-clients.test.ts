import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AppClientDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { dataOf } from "../installations/installations.test-support.ts";
import { type ClientTest, startClientTest } from "./clients.test-support.ts";

const operator = "operator";

describe("clients that operators register (manual)", () => {
  const cleanUp = cleanUpAfter();
  let ehr: ClientTest;
  before(async () => {
    ehr = await startClientTest(cleanUp);
  });
  const put = (id: string, clientId: string): Promise<Response> =>
    ehr.as(operator, `/admin/clients/${id}`, { method: "PUT", body: { clientId } });
  const remove = (id: string): Promise<Response> => ehr.as(operator, `/admin/clients/${id}`, { method: "DELETE" });
  const waitsFor = (task: string | null) => (client: AppClientDto) => client.task === task;
  const connect = async (slug: string, clientId: string): Promise<{ id: string; subscriptionId: string }> => {
    ehr.marketplace.publish(slug);
    const subscriptionId = await ehr.subscribe(slug);
    const { id } = await ehr.clientWhen(slug, "it is a task", waitsFor("register"));
    await dataOf(await put(id, clientId));
    return { id, subscriptionId };
  };

  test("are a task with the metadata to register, and ready once an operator has said so", async () => {
    const slug = ehr.marketplace.publish("by-hand");
    const subscriptionId = await ehr.subscribe(slug);
    const task = await ehr.clientWhen(slug, "it is a task", waitsFor("register"));
    const { client_id: _id, ...metadata } = clientMetadataOf(slug);
    assert.deepEqual(task.metadata, metadata);
    assert.deepEqual([task.method, task.status, task.clientId, task.orgAlias], ["manual", "pending", null, null]);
    const reason = "An operator has to register the client.";
    await ehr.connectionBecomes(slug, { status: "pending", clientId: null, reason });

    const ready = await dataOf<AppClientDto>(await put(task.id, "by-hand-client"));
    assert.deepEqual([ready.status, ready.task, ready.clientId], ["ready", null, "by-hand-client"]);
    assert.deepEqual(await dataOf(await ehr.as(operator, `/admin/clients/${task.id}`)), ready);
    await ehr.connectionBecomes(slug, { status: "ready", clientId: "by-hand-client", reason: null });
    assert.equal((await ehr.grantOf("by-hand-client")).subscriptionId, subscriptionId);
    await eventually("the vendor is told", 30_000, () => {
      const reports = ehr.marketplace.reports.filter((each) => each.subscriptionId === subscriptionId);
      return reports.at(-1)?.body.clientId === "by-hand-client";
    });
  });

  test("are a task again when the metadata has changed, and stay usable meanwhile", async () => {
    const slug = "by-hand-changed";
    const { id } = await connect(slug, "changed-client");
    ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { redirect_uris: ["https://app.example/other"] }));
    await ehr.refresh(slug);
    const changed = await ehr.clientWhen(slug, "it is a task", waitsFor("update"));
    assert.deepEqual([changed.status, changed.metadata?.["redirect_uris"]], ["ready", ["https://app.example/other"]]);
    assert.equal((await ehr.grantOf("changed-client")).active, true);
    await dataOf(await put(id, "changed-client"));
    await ehr.clientWhen(slug, "it is done", waitsFor(null));
  });

  test("are a task after the last subscription, and gone once an operator has said so", async () => {
    const slug = "by-hand-cancelled";
    const { id, subscriptionId } = await connect(slug, "cancelled-client");
    await ehr.change("cancelled", slug, subscriptionId);
    const task = await ehr.clientWhen(slug, "it is a task", waitsFor("remove"));
    assert.equal(task.status, "removing");
    assert.equal((await ehr.grantOf("cancelled-client")).active, false);
    assert.equal(await dataOf(await remove(id)), null);
    assert.deepEqual(await ehr.clientsOf(slug), []);
    assert.equal((await ehr.grantOf("cancelled-client")).active, false);
  });

  test("that were removed at the authorization server while the app is installed are a task again", async () => {
    const slug = "by-hand-lost";
    const { id } = await connect(slug, "lost-client");
    assert.equal(await dataOf(await remove(id)), null);
    const again = await ehr.clientWhen(slug, "it is a task", waitsFor("register"));
    assert.notEqual(again.id, id);
    assert.equal((await ehr.grantOf("lost-client")).active, false);
  });

  test("can't have the client_id of another", async () => {
    await connect("by-hand-first", "taken-client");
    const slug = ehr.marketplace.publish("by-hand-second");
    await ehr.subscribe(slug);
    const { id } = await ehr.clientWhen(slug, "it is a task", waitsFor("register"));
    assert.match(await assertFailure(await put(id, "taken-client"), 409), /has a client with this client_id/);
    assert.equal((await ehr.clientsOf(slug))[0]?.clientId, null);
  });

  test("are listed by status and task, in pages", async () => {
    const list = async (query: string): Promise<{ items: AppClientDto[]; next: string | null }> =>
      dataOf(await ehr.as(operator, `/admin/clients?${query}`));
    const all = (await list("")).items.map(({ id }) => id);
    assert.ok(all.length > 4);
    const paged: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page: { items: AppClientDto[]; next: string | null } = await list(
        `limit=2${after === "" ? "" : `&after=${after}`}`,
      );
      paged.push(...page.items.map(({ id }) => id));
      after = page.next;
    }
    assert.deepEqual(paged, all);
    for (const status of ["pending", "ready", "failed", "uncertain", "removing"]) {
      assert.ok((await list(`status=${status}`)).items.every((client) => client.status === status));
    }
    const tasks = (await list("tasks=true")).items;
    assert.ok(tasks.length > 0 && tasks.every(({ task }) => task !== null));
    const readyTasks = (await list("tasks=true&status=ready")).items;
    assert.ok(readyTasks.length < tasks.length);
    const metrics = await (await fetch(`${ehr.ehr.url}/metrics`)).text();
    assert.match(metrics, new RegExp(`^client_tasks\\{[^}]*\\} ${tasks.length}$`, "m"));
  });

  test("that don't exist are 404", async () => {
    const nobody = randomUUID();
    await assertFailure(await ehr.as(operator, `/admin/clients/${nobody}`), 404);
    await assertFailure(await put(nobody, "any"), 404);
    await assertFailure(await remove(nobody), 404);
    await assertFailure(await ehr.as(operator, `/admin/clients/${nobody}/retry`, { method: "POST" }), 404);
  });

  test("leave an audit entry with each change", async () => {
    const slug = "by-hand-audited";
    const { id, subscriptionId } = await connect(slug, "audited-client");
    await dataOf(await ehr.as(operator, `/admin/clients/${id}/retry`, { method: "POST" }));
    await ehr.change("cancelled", slug, subscriptionId);
    await ehr.clientWhen(slug, "it is a task", waitsFor("remove"));
    await dataOf(await remove(id));
    const page = await dataOf<{ items: Record<string, unknown>[] }>(await ehr.as(operator, "/admin/audit?limit=100"));
    const entries = page.items.filter(({ target }) => (target as { id: string }).id === slug);
    const ready = { status: "ready", clientId: "audited-client" };
    assert.deepEqual(
      entries.map(({ action, onBehalfOf, before: earlier, after }) => ({ action, onBehalfOf, before: earlier, after })),
      [
        { action: "client.delete", onBehalfOf: "*", before: { ...ready, status: "removing" }, after: null },
        { action: "client.retry", onBehalfOf: "*", before: ready, after: ready },
        { action: "client.put", onBehalfOf: "*", before: { status: "pending", clientId: null }, after: ready },
      ],
    );
  });
});

describe("clients that the authorization server reads from the marketplace (cimd)", () => {
  const cleanUp = cleanUpAfter();
  let ehr: ClientTest;
  before(async () => {
    ehr = await startClientTest(cleanUp, { CLIENT_REGISTRATION: "cimd" });
  });

  test("are ready at once, with the document's URL, and gone with the last subscription", async () => {
    const slug = ehr.marketplace.publish("documented");
    const id = await ehr.subscribe(slug);
    const client = await ehr.clientWhen(slug, "it is ready", ({ status }) => status === "ready");
    const url = "https://marketplace.example/api/v1/apps/documented/client";
    assert.deepEqual([client.clientId, client.task, client.method], [url, null, "cimd"]);
    assert.equal((await ehr.grantOf(url)).active, true);
    const path = `/admin/clients/${client.id}`;
    await assertFailure(await ehr.as(operator, path, { method: "PUT", body: { clientId: "another" } }), 409);
    await assertFailure(await ehr.as(operator, path, { method: "DELETE" }), 409);
    await ehr.change("cancelled", slug, id);
    await eventually("it is gone", 30_000, async () => (await ehr.clientsOf(slug)).length === 0);
    assert.equal((await ehr.grantOf(url)).active, false);
  });

  test("have failed for a draft, whose document isn't public", async () => {
    const slug = "sandbox-documented";
    const client = clientMetadataOf(slug, {
      client_id: `https://marketplace.example/api/v1/sandbox-apps/${slug}/client`,
    });
    ehr.marketplace.publish(slug, {}, client);
    // As reconciliation would install it.
    const app = ehr.marketplace.apps.get(slug)?.app ?? assert.fail();
    await ehr.rows(
      `insert into apps (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known, fetched_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, true, now(), now())`,
      [slug, app.id, app.name, app.iconUrl, app.category, app.extensionPoints, app.smartLaunchUrl, app.fhirScopes],
    );
    const subscription = randomUUID();
    await ehr.rows(
      `insert into subscriptions (org_alias, id, app_slug, status, as_of, confirmed_at, listed_at)
       values ('riverside-clinic', $1, $2, 'active', now(), now(), now())`,
      [subscription, slug],
    );
    await ehr.rows(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       values (gen_random_uuid(), 'riverside-clinic', $2, 'active', $1, now(), now())`,
      [subscription, slug],
    );
    await ehr.refresh(slug);
    const failed = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
    assert.match(failed.reason ?? "", /not public/);
  });
});
