import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { hilltop, riverside } from "../installations/installations.test-support.ts";
import { eventOf, secretOf, send } from "../marketplace-events/events.test-support.ts";
import { type ClientTest, startClientTest } from "./clients.test-support.ts";

const isReady = ({ status }: { status: string }): boolean => status === "ready";

describe("clients that this service registers (dcr)", () => {
  const cleanUp = cleanUpAfter();
  let server: RegistrationServer;
  let ehr: ClientTest;
  before(async () => {
    server = await startRegistrationServer(cleanUp);
    ehr = await startClientTest(cleanUp, {}, server);
  });
  beforeEach(() => {
    server.interfere = () => false;
  });
  const registeredFor = (slug: string): string[] => server.idsNamed(`The app ${slug}`);

  test("are registered once for all practices, reported to each, and removed after the last subscription", async () => {
    const slug = ehr.marketplace.publish("all-practices");
    const first = await ehr.subscribe(slug);
    const client = await ehr.clientWhen(slug, "it is ready", isReady);
    const second = await ehr.subscribe(slug, hilltop);
    const reportsOf = (id: string) => ehr.marketplace.reports.filter(({ subscriptionId }) => subscriptionId === id);
    await eventually("both are told", 30_000, () => [first, second].every((id) => reportsOf(id).length > 0));
    assert.deepEqual(registeredFor(slug), [client.clientId]);
    const { client_id: _id, ...requested } = clientMetadataOf(slug);
    assert.deepEqual(server.clients.get(client.clientId ?? "")?.metadata, requested);
    for (const [id, alias] of [
      [first, riverside],
      [second, hilltop],
    ] as const) {
      const { authorization, body } = reportsOf(id).at(-1) ?? assert.fail();
      assert.equal(authorization, `Bearer token-of-${alias}`);
      const fhirBaseUrl = `https://fhir.example/${alias}`;
      assert.deepEqual(body, { status: "ready", clientId: client.clientId, fhirBaseUrl, reason: null });
    }
    await ehr.connectionBecomes(slug, { status: "ready", clientId: client.clientId, reason: null });

    await ehr.change("cancelled", slug, first);
    await eventually("the grant ends", 30_000, async () => !(await ehr.grantOf(client.clientId ?? "")).active);
    assert.equal((await ehr.grantOf(client.clientId ?? "", hilltop)).active, true);
    assert.deepEqual(registeredFor(slug), [client.clientId], "the other practice has it");
    await ehr.change("cancelled", slug, second, hilltop);
    await eventually("the client is gone", 30_000, async () => (await ehr.clientsOf(slug)).length === 0);
    assert.deepEqual(registeredFor(slug), []);
    assert.equal((await ehr.grantOf(client.clientId ?? "", hilltop)).active, false);

    await ehr.subscribe(slug);
    const again = await ehr.clientWhen(slug, "it is registered again", isReady);
    assert.notEqual(again.clientId, client.clientId);
  });

  test("are updated when the marketplace's metadata changes, with each new token", async () => {
    const slug = ehr.marketplace.publish("changing");
    await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    for (const uri of ["https://app.example/second", "https://app.example/third"]) {
      ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { redirect_uris: [uri] }));
      await ehr.refresh(slug);
      await eventually("it is updated", 30_000, () => {
        const uris = server.clients.get(clientId ?? "")?.metadata["redirect_uris"];
        return Array.isArray(uris) && uris[0] === uri;
      });
    }
    await ehr.clientWhen(slug, "it is the same", (client) => isReady(client) && client.clientId === clientId);
    const updates = server.requests.filter(({ path }) => path.endsWith(`/${clientId}`)).length;
    const fetches = () => ehr.marketplace.metadataRequests.filter(({ path }) => path.includes(slug));
    const earlier = fetches().length;
    await ehr.refresh(slug);
    await eventually("it is fetched", 30_000, () => fetches().length > earlier);
    assert.equal(fetches().at(-1)?.status, 304);
    await ehr.jobsEnd();
    assert.equal(server.requests.filter(({ path }) => path.endsWith(`/${clientId}`)).length, updates);
  });

  test("have an added scope within seconds of the first agreement to it, though the metadata was just fetched", async () => {
    const slug = ehr.marketplace.publish("added-scope");
    const id = await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    await ehr.jobsEnd();
    const fhirScopes = `${String(clientMetadataOf(slug)["scope"])} patient/Condition.rs`;
    ehr.marketplace.publish(slug, { fhirScopes }, clientMetadataOf(slug, { scope: fhirScopes }));
    const body = eventOf({ what: "updated", id, at: Date.now(), app: slug, fhirScopes });
    assert.equal((await send(ehr.ehr.url, { body, secret: secretOf(riverside) })).status, 200);
    await eventually("it is updated", 30_000, () => {
      const { metadata } = server.clients.get(clientId ?? "") ?? assert.fail();
      return metadata["scope"] === fhirScopes;
    });
    await ehr.clientWhen(slug, "it is the same", (client) => isReady(client) && client.clientId === clientId);
  });

  test("have their registration token encrypted", async () => {
    const slug = ehr.marketplace.publish("secretive");
    await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    const token = server.clients.get(clientId ?? "")?.token ?? assert.fail();
    const all = JSON.stringify(await ehr.rows("select * from clients"));
    assert.ok(!all.includes(token));
    assert.ok(!JSON.stringify(await ehr.clientsOf(slug)).includes(token));
  });

  test("are not wanted for an app that doesn't sign in, and have failed for one whose vendor hasn't said how", async () => {
    const silent = ehr.marketplace.publish("silent", {}, 404);
    const native = ehr.marketplace.publish("native-app", { smartLaunchUrl: null, fhirScopes: "" }, 404);
    const backend = ehr.marketplace.publish("backend", { smartLaunchUrl: null, fhirScopes: "system/Patient.rs" }, 404);
    for (const slug of [silent, native, backend]) await ehr.subscribe(slug);
    for (const slug of [silent, backend]) {
      const { reason } = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
      assert.equal(reason, "The vendor has not said how the app signs in.");
      await ehr.connectionBecomes(slug, { status: "failed", clientId: null, reason });
    }
    await eventually("it is installed", 30_000, async () =>
      ehr.marketplace.metadataRequests.some(({ path }) => path.includes(native)),
    );
    assert.deepEqual(await ehr.clientsOf(native), []);
    assert.equal(await ehr.connectionOf(native), null);
    assert.deepEqual(registeredFor(silent), []);
    ehr.marketplace.publish(silent);
    await ehr.refresh(silent);
    await ehr.clientWhen(silent, "the vendor has said it", isReady);
  });

  test("have failed, with the reason, if this service refuses the metadata; a registered one works on", async () => {
    const slug = ehr.marketplace.publish("refused", {}, clientMetadataOf("refused", { redirect_uris: [] }));
    const id = await ehr.subscribe(slug);
    const { reason } = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
    assert.match(reason ?? "", /^The EHR refuses the app's client metadata: /);
    await eventually("its vendor is told", 30_000, () =>
      ehr.marketplace.reports.some(({ subscriptionId, body }) => subscriptionId === id && body.status === "failed"),
    );
    ehr.marketplace.publish(slug);
    await ehr.refresh(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { redirect_uris: [] }));
    await ehr.refresh(slug);
    const kept = await ehr.clientWhen(slug, "it has the reason", (client) => client.reason !== null);
    assert.deepEqual([kept.status, kept.clientId], ["ready", clientId]);
  });

  test("are removed and have failed once the vendor no longer says how the app signs in", async () => {
    const slug = ehr.marketplace.publish("withdrawn");
    const id = await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    ehr.marketplace.publish(slug, {}, 404);
    await ehr.refresh(slug);
    const { reason } = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
    assert.equal(reason, "The vendor has not said how the app signs in.");
    const removals = server.requests.filter(({ method, path }) => method === "DELETE" && path.endsWith(`/${clientId}`));
    assert.equal(removals.length, 1);
    assert.deepEqual(registeredFor(slug), []);
    assert.equal((await ehr.grantOf(clientId ?? "")).active, false);
    await eventually("the vendor is told", 30_000, () => {
      const last = ehr.marketplace.reports.findLast(({ subscriptionId }) => subscriptionId === id);
      return last?.body.status === "failed" && last.body.reason === reason;
    });
    ehr.marketplace.publish(slug);
    await ehr.refresh(slug);
    await ehr.clientWhen(slug, "it is registered again", isReady);
  });

  test("stay as they are while the app is suspended, and wait for its end if they aren't registered", async () => {
    const [known, unknown] = [ehr.marketplace.publish("known-before"), ehr.marketplace.publish("suspended", {}, 410)];
    await ehr.subscribe(known);
    const { clientId } = await ehr.clientWhen(known, "it is ready", isReady);
    ehr.marketplace.publish(known, {}, 410);
    await ehr.refresh(known);
    await ehr.subscribe(unknown);
    const { reason } = await ehr.clientWhen(unknown, "it waits", (client) => client.reason !== null);
    assert.equal(reason, "The app is suspended in the marketplace.");
    await ehr.clientWhen(known, "it is as before", (client) => client.clientId === clientId && isReady(client));
    ehr.marketplace.publish(unknown);
    await ehr.refresh(unknown);
    await ehr.clientWhen(unknown, "it is ready", isReady);
  });

  test("with other values than requested are removed again, and have failed", async () => {
    const slug = ehr.marketplace.publish("too-generous");
    server.interfere = ({ method }, response, proceed) => {
      if (method !== "POST") return false;
      const { status, body } = proceed();
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...(body as object), scope: "system/*.cruds" }));
      return true;
    };
    await ehr.subscribe(slug);
    const failed = await ehr.clientWhen(
      slug,
      "it has failed",
      ({ status, clientId }) => status === "failed" && clientId === null,
    );
    assert.match(failed.reason ?? "", /registered other values than requested for: scope/);
    assert.deepEqual(registeredFor(slug), []);
    server.interfere = () => false;
    await ehr.refresh(slug);
    await ehr.clientWhen(slug, "it is registered within the hour", isReady);
  });

  test("are told to the marketplace again until it accepts the report", async () => {
    const slug = ehr.marketplace.publish("reported-late");
    ehr.marketplace.reportStatus = 503;
    const id = await ehr.subscribe(slug);
    const attempts = () => ehr.marketplace.reports.filter(({ subscriptionId }) => subscriptionId === id).length;
    await eventually("it is refused", 30_000, () => attempts() > 0);
    ehr.marketplace.reportStatus = 200;
    const refused = attempts();
    await eventually("it is reported", 30_000, async () => {
      await ehr.retryNow();
      return attempts() > refused;
    });
    const unreported = () =>
      ehr.rows("select from installations where app_slug = $1 and reported_version is null", [slug]);
    await eventually("it is marked", 30_000, async () => (await unreported()).length === 0);
  });

  test("are not reported again to a subscription that the marketplace doesn't know", async () => {
    const slug = ehr.marketplace.publish("unknown-there");
    ehr.marketplace.reportStatus = 404;
    const id = await ehr.subscribe(slug);
    const isMarked = async (): Promise<boolean> =>
      (await ehr.rows("select from installations where app_slug = $1 and reported_version is not null", [slug]))
        .length === 1;
    await eventually("it is marked", 30_000, isMarked);
    await ehr.jobsEnd();
    ehr.marketplace.reportStatus = 200;
    const reports = () => ehr.marketplace.reports.filter(({ subscriptionId }) => subscriptionId === id).length;
    const earlier = reports();
    await ehr.refresh(slug);
    await ehr.jobsEnd();
    assert.equal(reports(), earlier);
  });
});

describe("with one client for each organisation and app", () => {
  const cleanUp = cleanUpAfter();
  let server: RegistrationServer;
  let ehr: ClientTest;
  before(async () => {
    server = await startRegistrationServer(cleanUp);
    ehr = await startClientTest(cleanUp, { CLIENT_REGISTRATION_PER: "organisation" }, server);
  });

  test("a client is for its organisation only, and goes with its subscription", async () => {
    const slug = ehr.marketplace.publish("for-each");
    const ids = { [riverside]: await ehr.subscribe(slug), [hilltop]: await ehr.subscribe(slug, hilltop) };
    await eventually("both are ready", 30_000, async () => (await ehr.clientsOf(slug)).filter(isReady).length === 2);
    const clients = new Map((await ehr.clientsOf(slug)).map(({ orgAlias, clientId }) => [orgAlias, clientId ?? ""]));
    assert.equal(new Set(clients.values()).size, 2);
    assert.equal((await ehr.grantOf(clients.get(riverside) ?? "")).active, true);
    assert.equal((await ehr.grantOf(clients.get(riverside) ?? "", hilltop)).active, false);
    await ehr.connectionBecomes(slug, { status: "ready", clientId: clients.get(riverside) ?? null, reason: null });
    await ehr.change("cancelled", slug, ids[riverside] ?? "");
    await eventually("one is gone", 30_000, async () => (await ehr.clientsOf(slug)).length === 1);
    assert.deepEqual([...server.clients.keys()], [clients.get(hilltop)]);
  });

  test("installations from before have theirs within the hour, and all are updated", async () => {
    const slug = ehr.marketplace.publish("from-before");
    await ehr.subscribe(slug);
    await ehr.subscribe(slug, hilltop);
    await eventually("both are ready", 30_000, async () => (await ehr.clientsOf(slug)).filter(isReady).length === 2);
    // As if this version of the service had never seen it.
    await ehr.rows("delete from clients where app_slug = $1 and org_alias = $2", [slug, hilltop]);
    ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { software_version: "2.0.0" }));
    await ehr.refresh(slug);
    await eventually("both are current", 30_000, async () => {
      const versions = await ehr.rows(
        `select from clients join client_metadata using (app_slug)
         where app_slug = $1 and status = 'ready' and registered_sha256 = sha256`,
        [slug],
      );
      return versions.length === 2;
    });
  });
});
