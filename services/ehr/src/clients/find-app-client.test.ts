import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { hilltop, riverside } from "../installations/installations.test-support.ts";
import { eventOf, send } from "../marketplace-events/events.test-support.ts";
import { type ClientTest, startClientTest } from "./clients.test-support.ts";

const inactive = { active: false, appSlug: null, subscriptionId: null, fhirScopes: null };

describe("GET /api/internal/app-clients", () => {
  const cleanUp = cleanUpAfter();
  let server: RegistrationServer;
  let ehr: ClientTest;
  before(async () => {
    server = await startRegistrationServer(cleanUp);
    ehr = await startClientTest(cleanUp, {}, server);
  });
  const connect = async (slug: string): Promise<{ id: string; clientId: string }> => {
    ehr.marketplace.publish(slug);
    const id = await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", ({ status }) => status === "ready");
    return { id, clientId: clientId ?? "" };
  };
  const allScopes = "launch openid fhirUser patient/Patient.rs offline_access";

  test("an installed app's client is active, with the scopes that the practice has agreed to", async () => {
    const { id, clientId } = await connect("agreed-scopes");
    const agreed = { active: true, appSlug: "agreed-scopes", subscriptionId: id };
    // The event of `subscribe` says which are agreed to.
    assert.deepEqual(await ehr.grantOf(clientId), { ...agreed, fhirScopes: "launch" });
    const body = eventOf({ what: "updated", id, at: Date.now(), app: "agreed-scopes", fhirScopes: allScopes });
    assert.equal((await send(ehr.ehr.url, { body })).status, 200);
    await eventually("a scope is added", 30_000, async () => (await ehr.grantOf(clientId)).fhirScopes === allScopes);
    assert.deepEqual(await ehr.grantOf(clientId), { ...agreed, fhirScopes: allScopes });
  });

  test("it is inactive while the app is paused, and once it is cancelled", async () => {
    const { id, clientId } = await connect("paused-app");
    assert.equal((await ehr.grantOf(clientId)).active, true);
    await ehr.change("paused", "paused-app", id);
    await eventually("it is inactive", 30_000, async () => !(await ehr.grantOf(clientId)).active);
    await ehr.change("resumed", "paused-app", id);
    await eventually("it is active", 30_000, async () => (await ehr.grantOf(clientId)).active);
    await ehr.change("cancelled", "paused-app", id);
    await eventually("it is inactive again", 30_000, async () => !(await ehr.grantOf(clientId)).active);
  });

  test("unknown clients and organisations, other organisations, and clients that aren't ready are all alike", async () => {
    const { clientId } = await connect("alike");
    const failed = ehr.marketplace.publish("alike-failed", {}, 404);
    await ehr.subscribe(failed);
    await ehr.clientWhen(failed, "it has failed", ({ status }) => status === "failed");
    const bodies = new Set<string>();
    for (const [client, alias] of [
      ["unheard-of", riverside],
      [clientId, hilltop],
      [clientId, "unheard-of"],
      ["unheard-of", "unheard-of"],
      ["https://marketplace.example/api/v1/apps/alike-failed/client", riverside],
      ["'; drop table clients; --", riverside],
    ] as const) {
      assert.deepEqual(await ehr.grantOf(client, alias), inactive);
      const query = new URLSearchParams({ clientId: client, orgAlias: alias });
      const response = await ehr.as("launch-redeemer", `/internal/app-clients?${query.toString()}`);
      bodies.add(await response.text());
    }
    assert.equal(bodies.size, 1);
  });

  test("other processes notice each change", async () => {
    const other = await ehr.startAnother();
    const { id, clientId } = await connect("other-process");
    const query = new URLSearchParams({ clientId, orgAlias: riverside });
    const isActive = async (): Promise<boolean> => {
      const response = await ehr.as("launch-redeemer", `/internal/app-clients?${query.toString()}`, { at: other });
      return ((await response.json()) as { data: { active: boolean } }).data.active;
    };
    await eventually("it is active", 30_000, isActive);
    await ehr.change("paused", "other-process", id);
    await eventually("it is inactive", 30_000, async () => !(await isActive()));
    await ehr.change("resumed", "other-process", id);
    await eventually("it is active again", 30_000, isActive);
    await ehr.rows(
      "update clients set status = 'failed', client_id = null, registration_uri = null, encrypted_registration_token = null, registered_sha256 = null, reason = 'A test.' where client_id = $1",
      [clientId],
    );
    await eventually("the client is unknown", 30_000, async () => !(await isActive()));
  });

  test("a pause is seen at once while the process hears of no changes", async () => {
    const { clientId } = await connect("unheard");
    assert.equal((await ehr.grantOf(clientId)).active, true);
    const { ownerUrl } = ehr.database;
    const name = new URL(ownerUrl).pathname.slice(1);
    await withClient(ownerUrl, async (client) => {
      const listeners =
        "from pg_stat_activity where datname = current_database() and application_name like '%listener'";
      const isListening = async (): Promise<boolean> => (await client.query(`select ${listeners}`)).rowCount !== 0;
      // The pool keeps its connections, and the listener can't open another.
      await client.query(`alter database ${name} connection limit 0`);
      try {
        await client.query(`select pg_terminate_backend(pid) ${listeners}`);
        await eventually("nothing listens", 30_000, async () => !(await isListening()));
        await client.query("update installations set status = 'paused' where app_slug = 'unheard'");
        // A cached response would be served for a minute.
        await eventually("it is inactive", 20_000, async () => !(await ehr.grantOf(clientId)).active);
        assert.equal(await isListening(), false);
      } finally {
        await client.query(`alter database ${name} connection limit -1`);
      }
    });
  });

  test("the authorization server isn't limited in its requests", async () => {
    const limited = await ehr.startAnother({ CALLER_REQUESTS_PER_MINUTE: "2" });
    const path = `/internal/app-clients?${new URLSearchParams({ clientId: "any", orgAlias: riverside }).toString()}`;
    for (let nth = 0; nth < 5; nth += 1) {
      assert.equal((await ehr.as("launch-redeemer", path, { at: limited })).status, 200);
    }
  });
});
