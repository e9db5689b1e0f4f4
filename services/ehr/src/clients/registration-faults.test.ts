import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import type { AppClientDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { type RegistrationServer, startRegistrationServer } from "@ehr-marketplace/tests/support/registration-server";
import { dataOf } from "../installations/installations.test-support.ts";
import { type ClientTest, startClientTest } from "./clients.test-support.ts";

type Interfere = RegistrationServer["interfere"];

const respond = (response: Parameters<Interfere>[1], status: number, body: unknown): true => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return true;
};

describe("registering clients while the authorization server fails", () => {
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
  const registrationsOf = (slug: string): number =>
    server.requests.filter(({ method, body }) => method === "POST" && body["client_name"] === `The app ${slug}`).length;
  const isReady = ({ status }: AppClientDto): boolean => status === "ready";
  const isUncertain = ({ status }: AppClientDto): boolean => status === "uncertain";
  const settle = (id: string, what: "retry" | "PUT" | "DELETE", clientId?: string): Promise<Response> => {
    const path = `/admin/clients/${id}`;
    if (what === "retry") return ehr.as("operator", `${path}/retry`, { method: "POST" });
    return ehr.as("operator", path, { method: what, ...(clientId === undefined ? {} : { body: { clientId } }) });
  };
  /** Does what the next request of this method says, and breaks the connection off instead of responding. */
  const loseResponse =
    (lost: string): Interfere =>
    ({ method, socket }, _response, proceed) => {
      if (method !== lost) return false;
      server.interfere = () => false;
      proceed();
      socket.destroy();
      return true;
    };
  const ready = async (slug: string): Promise<AppClientDto & { subscriptionId: string }> => {
    ehr.marketplace.publish(slug);
    const subscriptionId = await ehr.subscribe(slug);
    return { ...(await ehr.clientWhen(slug, "it is ready", isReady)), subscriptionId };
  };

  for (const status of [404, 429, 503] as const) {
    test(`${status}: it is pending, and is registered once the server does it`, async () => {
      const slug = ehr.marketplace.publish(`refused-${status}`);
      server.interfere = (_request, response) => respond(response, status, { error: "temporarily_unavailable" });
      await ehr.subscribe(slug);
      const pending = await ehr.clientWhen(slug, "it waits", ({ reason }) => reason !== null);
      assert.deepEqual([pending.status, pending.task, pending.attempt], ["pending", null, null]);
      server.interfere = () => false;
      await eventually("it is registered", 30_000, async () => {
        await ehr.retryNow();
        return registeredFor(slug).length > 0;
      });
      await ehr.clientWhen(slug, "it is ready", isReady);
      assert.equal(registeredFor(slug).length, 1);
    });
  }

  for (const [status, error] of [
    [400, "invalid_redirect_uri"],
    [401, "invalid_token"],
    [403, "insufficient_scope"],
  ] as const) {
    test(`${status}: it has failed with the reason, which the vendor is told, and is tried again within the hour`, async () => {
      const slug = ehr.marketplace.publish(`refused-${status}`);
      server.interfere = (_request, response) =>
        respond(response, status, { error, error_description: `Trace ${randomUUID()}` });
      const subscriptionId = await ehr.subscribe(slug);
      const failed = await ehr.clientWhen(slug, "it has failed", (client) => client.status === "failed");
      const reason = `The authorization server responded with ${status}: ${error}.`;
      assert.deepEqual([failed.reason, failed.attempt, failed.clientId], [reason, null, null]);
      await eventually("the vendor is told", 30_000, () => {
        const reports = ehr.marketplace.reports.filter((each) => each.subscriptionId === subscriptionId);
        return reports.at(-1)?.body.reason === reason;
      });
      await ehr.jobsEnd();
      const reports = ehr.marketplace.reports.length;
      const tried = registrationsOf(slug);
      await ehr.refresh(slug);
      await eventually("it is tried again", 30_000, () => registrationsOf(slug) > tried);
      await ehr.jobsEnd();
      assert.equal(ehr.marketplace.reports.length, reports, "the same failure isn't reported again");
      server.interfere = () => false;
      await dataOf(await settle(failed.id, "retry"));
      await ehr.clientWhen(slug, "it is ready", isReady);
      assert.equal(registeredFor(slug).length, 1);
    });
  }

  for (const [what, interfere, isRegistered] of [
    ["500 without effect", (_request, response) => respond(response, 500, {}), false],
    [
      "504 though it is registered",
      (_request, response, proceed) => {
        proceed();
        return respond(response, 504, {});
      },
      true,
    ],
    [
      "503 of a proxy though it is registered",
      (_request, response, proceed) => {
        proceed();
        response.writeHead(503).end("upstream connect error");
        return true;
      },
      true,
    ],
    ["nonsense without effect", (_request, response) => respond(response, 201, "thank you"), false],
    [
      "a broken connection though it is registered",
      ({ socket }, _response, proceed) => {
        proceed();
        socket.destroy();
        return true;
      },
      true,
    ],
  ] as const satisfies [string, Interfere, boolean][]) {
    test(`${what}: it is uncertain, isn't registered twice, and an operator settles it`, async () => {
      const slug = ehr.marketplace.publish(`uncertain-${what.replaceAll(/[^a-z0-9]+/g, "-").slice(0, 40)}`);
      server.interfere = interfere;
      const subscriptionId = await ehr.subscribe(slug);
      const uncertain = await ehr.clientWhen(slug, "it is uncertain", isUncertain);
      server.interfere = () => false;
      assert.deepEqual([uncertain.task, uncertain.attempt, uncertain.clientId], ["check", "register", null]);
      assert.ok(uncertain.attemptedAt !== null, "the operator is told the time");
      assert.equal(uncertain.metadata?.["client_name"], `The app ${slug}`);
      const reason = "The EHR's operator has to check the client at the authorization server.";
      await ehr.connectionBecomes(slug, { status: "failed", clientId: null, reason });

      await ehr.refresh(slug);
      await ehr.jobsEnd();
      assert.equal(registrationsOf(slug), 1, "it isn't tried again by itself");
      assert.equal(registeredFor(slug).length, isRegistered ? 1 : 0);

      const [found] = registeredFor(slug);
      await dataOf(
        found === undefined ? await settle(uncertain.id, "retry") : await settle(uncertain.id, "PUT", found),
      );
      const settled = await ehr.clientWhen(slug, "it is ready", isReady);
      assert.deepEqual(registeredFor(slug), [settled.clientId]);
      assert.equal((await ehr.grantOf(settled.clientId ?? "")).subscriptionId, subscriptionId);
    });
  }

  test("an operator who removed an uncertain client says so, and the app gets another one", async () => {
    const slug = ehr.marketplace.publish("uncertain-removed");
    server.interfere = (_request, response, proceed) => {
      proceed();
      return respond(response, 502, {});
    };
    await ehr.subscribe(slug);
    const uncertain = await ehr.clientWhen(slug, "it is uncertain", isUncertain);
    server.interfere = () => false;
    for (const id of registeredFor(slug)) server.clients.delete(id);
    assert.equal(await dataOf(await settle(uncertain.id, "DELETE")), null);
    const again = await ehr.clientWhen(slug, "it is ready", isReady);
    assert.deepEqual(registeredFor(slug), [again.clientId]);
  });

  test("clients that are not connected or removed are counted, unless they wait for somebody else", async () => {
    const counts = async (): Promise<Record<string, number>> => {
      const text = await (await fetch(`${ehr.ehr.url}/metrics`)).text();
      const samples = text.matchAll(/^client_incomplete\{[^}]*status="(\w+)"[^}]*\} (\d+)$/gm);
      return Object.fromEntries([...samples].map(([, status = "", count]) => [status, Number(count)]));
    };
    await eventually("those of earlier tests are connected", 30_000, async () => {
      await ehr.retryNow();
      return Object.values(await counts()).join() === "0,0,0";
    });
    const removed = await ready("counted-removing");
    const [refused, unavailable] = [ehr.marketplace.publish("counted-403"), ehr.marketplace.publish("counted-503")];
    server.interfere = ({ body }, response) =>
      respond(response, body["client_name"] === "The app counted-403" ? 403 : 503, { error: "not_now" });
    for (const slug of [refused, unavailable]) await ehr.subscribe(slug);
    await ehr.change("cancelled", "counted-removing", removed.subscriptionId);
    // These wait for their vendor, or the marketplace.
    const silent = ehr.marketplace.publish("counted-silent", {}, 404);
    const suspended = ehr.marketplace.publish("counted-suspended", {}, 410);
    for (const slug of [silent, suspended]) await ehr.subscribe(slug);
    for (const slug of [silent, suspended, refused, unavailable]) {
      await ehr.clientWhen(slug, "it isn't ready", ({ reason }) => reason !== null);
    }
    await eventually("they are counted", 30_000, async () => {
      const { failed, pending, removing } = await counts();
      return failed === 1 && pending === 1 && removing === 1;
    });
  });

  test("while a request is in progress, operators can't settle it", async () => {
    const slug = ehr.marketplace.publish("slow");
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    server.interfere = async ({ body }) => {
      if (body["client_name"] !== `The app ${slug}`) return false;
      arrived.resolve();
      await released.promise;
      return false;
    };
    await ehr.subscribe(slug);
    await arrived.promise;
    const [slow] = await ehr.clientsOf(slug);
    assert.equal(slow?.attempt, "register");
    for (const what of ["retry", "PUT", "DELETE"] as const) {
      const response = await settle(slow.id, what, what === "PUT" ? "guessed" : undefined);
      assert.match(await assertFailure(response, 409), /in progress/);
    }
    released.resolve();
    await ehr.clientWhen(slug, "it is ready", isReady);
    assert.equal(registrationsOf(slug), 1);
  });

  test("a client stays usable while its update fails, and is updated later", async () => {
    const { clientId } = await ready("update-fails");
    ehr.marketplace.publish("update-fails", {}, clientMetadataOf("update-fails", { software_version: "2.0.0" }));
    server.interfere = ({ method }, response) => method === "PUT" && respond(response, 500, {});
    const updates = (): number => server.requests.filter(({ path }) => path.endsWith(`/${clientId}`)).length;
    await ehr.refresh("update-fails");
    await eventually("it is tried", 30_000, () => updates() > 0);
    assert.equal((await ehr.grantOf(clientId ?? "")).active, true);
    server.interfere = () => false;
    await eventually("it is updated", 30_000, async () => {
      await ehr.retryNow();
      return server.clients.get(clientId ?? "")?.metadata["software_version"] === "2.0.0";
    });
    await ehr.clientWhen("update-fails", "it is ready", (client) => isReady(client) && client.clientId === clientId);
  });

  test("a client that somebody removed at the authorization server is an operator's, also if its update gets 500", async () => {
    const { clientId, id } = await ready("removed-there");
    ehr.marketplace.publish("removed-there", {}, clientMetadataOf("removed-there", { software_version: "2.0.0" }));
    server.clients.delete(clientId ?? "");
    server.interfere = ({ method }, response) => method === "PUT" && respond(response, 500, { error: "unknown_error" });
    await ehr.refresh("removed-there");
    const uncertain = await ehr.clientWhen("removed-there", "it is uncertain", isUncertain);
    assert.deepEqual([uncertain.task, uncertain.attempt, uncertain.clientId], ["check", "update", clientId]);
    server.interfere = () => false;
    assert.equal(await dataOf(await settle(id, "DELETE")), null);
    const other = await ehr.clientWhen("removed-there", "it is ready", isReady);
    assert.deepEqual(registeredFor("removed-there"), [other.clientId]);
  });

  test("retrying a client that is ready reads it at the authorization server, and leaves one that is there", async () => {
    const { clientId, id } = await ready("checked");
    await dataOf(await settle(id, "retry"));
    const reads = () =>
      server.requests.filter(({ method, path }) => method === "GET" && path.endsWith(`/${clientId}`)).length;
    await eventually("it is read", 30_000, () => reads() === 1);
    await ehr.jobsEnd();
    await ehr.clientWhen("checked", "it is as before", (client) => isReady(client) && client.attempt === null);
    // Reading it has replaced the token.
    ehr.marketplace.publish("checked", {}, clientMetadataOf("checked", { software_version: "2.0.0" }));
    await ehr.refresh("checked");
    await eventually("it is updated", 30_000, () => {
      return server.clients.get(clientId ?? "")?.metadata["software_version"] === "2.0.0";
    });
  });

  for (const status of [401, 404] as const) {
    test(`retrying a client that is ready, and that the server doesn't have (${status}), is the way to another one`, async () => {
      const slug = `checked-${status}`;
      const { clientId, id } = await ready(slug);
      server.clients.delete(clientId ?? "");
      server.interfere = ({ method }, response) => method === "GET" && respond(response, status, {});
      const managed = await assertFailure(await settle(id, "DELETE"), 409);
      assert.match(managed, /retry/i, "the way out is named");
      await dataOf(await settle(id, "retry"));
      const uncertain = await ehr.clientWhen(slug, "it is uncertain", isUncertain);
      assert.deepEqual([uncertain.task, uncertain.attempt, uncertain.clientId], ["check", "update", clientId]);
      assert.match(uncertain.reason ?? "", new RegExp(String(status)));
      assert.equal(await dataOf(await settle(id, "DELETE")), null);
      const other = await ehr.clientWhen(slug, "it is ready", isReady);
      assert.deepEqual(registeredFor(slug), [other.clientId]);
    });
  }

  test("a client whose check or update was denied only once stays managed after a retry", async () => {
    const slug = "denied-once";
    const { clientId, id } = await ready(slug);
    for (const denied of ["GET", "PUT"]) {
      server.interfere = ({ method }, response) => method === denied && respond(response, 404, {});
      if (denied === "PUT") {
        ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { software_version: "2.0.0" }));
        await ehr.refresh(slug);
      } else {
        await dataOf(await settle(id, "retry"));
      }
      await ehr.clientWhen(slug, "it is uncertain", isUncertain);
      assert.equal((await ehr.grantOf(clientId ?? "")).active, true);
      server.interfere = () => false;
      await dataOf(await settle(id, "retry"));
      await ehr.jobsEnd();
      const again = await ehr.clientWhen(slug, "it is ready", isReady);
      assert.deepEqual([again.method, again.task, again.clientId], ["dcr", null, clientId]);
    }
    assert.equal(server.clients.get(clientId ?? "")?.metadata["software_version"], "2.0.0");
    assert.deepEqual(registeredFor(slug), [clientId]);
  });

  test("a client that the server refuses can be registered by an operator", async () => {
    const slug = ehr.marketplace.publish("refused-by-hand");
    server.interfere = (_request, response) => respond(response, 403, {});
    await ehr.subscribe(slug);
    const { id } = await ehr.clientWhen(slug, "it has failed", (client) => client.status === "failed");
    const byHand = await dataOf<AppClientDto>(await settle(id, "PUT", "refused-by-hand-client"));
    assert.deepEqual([byHand.method, byHand.status, byHand.reason], ["manual", "ready", null]);
    assert.equal((await ehr.grantOf("refused-by-hand-client")).active, true);
  });

  for (const status of [403, 500] as const) {
    test(`a client whose removal the server refuses (${status}) is gone once an operator has said so`, async () => {
      const slug = `removal-refused-${status}`;
      const { id, subscriptionId } = await ready(slug);
      server.interfere = ({ method }, response) => method === "DELETE" && respond(response, status, {});
      await ehr.change("cancelled", slug, subscriptionId);
      await ehr.clientWhen(
        slug,
        "its removal has failed",
        (client) => client.status === "removing" && client.attemptedAt === null,
      );
      await eventually("it is deleted", 30_000, async () => {
        const response = await settle(id, "DELETE");
        // The job may be trying again.
        return response.status === 200;
      });
      assert.deepEqual(await ehr.clientsOf(slug), []);
      const page = await dataOf<{ items: { action: string; target: { id: string } }[] }>(
        await ehr.as("operator", "/admin/audit?limit=5"),
      );
      assert.equal(page.items.find(({ target }) => target.id === slug)?.action, "client.delete");
    });
  }

  test("a client whose token was lost with the response to an update is an operator's, and stays usable", async () => {
    const { clientId, id } = await ready("token-lost");
    ehr.marketplace.publish("token-lost", {}, clientMetadataOf("token-lost", { software_version: "2.0.0" }));
    server.interfere = loseResponse("PUT");
    await ehr.refresh("token-lost");
    await eventually("it is uncertain", 30_000, async () => {
      await ehr.retryNow();
      return (await ehr.clientsOf("token-lost")).some(isUncertain);
    });
    assert.equal((await ehr.grantOf(clientId ?? "")).active, true);
    await eventually("it works", 30_000, async () => (await ehr.connectionOf("token-lost"))?.status === "ready");
    const kept = await dataOf<AppClientDto>(await settle(id, "PUT", clientId ?? ""));
    assert.deepEqual([kept.method, kept.status, kept.task], ["manual", "ready", null]);
  });

  test("a removal is repeated until the client is gone, also if the first response was lost", async () => {
    const { clientId, subscriptionId } = await ready("removal-lost");
    server.interfere = loseResponse("DELETE");
    await ehr.change("cancelled", "removal-lost", subscriptionId);
    await eventually("it is removed there", 30_000, () => !server.clients.has(clientId ?? ""));
    await eventually("it is gone here", 30_000, async () => {
      await ehr.retryNow();
      return (await ehr.clientsOf("removal-lost")).length === 0;
    });
  });

  test("a proxy's 404 after a removal without a response doesn't count: the removal is repeated", async () => {
    const { clientId, subscriptionId } = await ready("removal-misrouted");
    let removals = 0;
    server.interfere = ({ method, socket }, response) => {
      if (method !== "DELETE") return false;
      removals += 1;
      if (removals === 1) socket.destroy();
      else response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not Found</h1>");
      return true;
    };
    await ehr.change("cancelled", "removal-misrouted", subscriptionId);
    await eventually("two responses were a proxy's", 30_000, async () => {
      await ehr.retryNow();
      return removals > 2;
    });
    const kept = (await ehr.clientsOf("removal-misrouted"))[0] ?? assert.fail("the row is gone");
    assert.deepEqual([kept.status, kept.clientId], ["removing", clientId]);
    assert.ok(server.clients.has(clientId ?? ""));
    server.interfere = () => false;
    await eventually("it is gone here", 30_000, async () => {
      await ehr.retryNow();
      return (await ehr.clientsOf("removal-misrouted")).length === 0;
    });
    assert.ok(!server.clients.has(clientId ?? ""));
  });

  test("a client that the server denies though it wasn't removed is an operator's", async () => {
    const { id, clientId, subscriptionId } = await ready("removal-denied");
    const client = server.clients.get(clientId ?? "") ?? assert.fail();
    server.clients.set(clientId ?? "", { ...client, token: "another" });
    await ehr.change("cancelled", "removal-denied", subscriptionId);
    const uncertain = await ehr.clientWhen("removal-denied", "it is uncertain", isUncertain);
    assert.deepEqual([uncertain.attempt, uncertain.clientId], ["remove", clientId]);
    server.clients.delete(clientId ?? "");
    assert.equal(await dataOf(await settle(id, "DELETE")), null);
    assert.deepEqual(await ehr.clientsOf("removal-denied"), []);
  });

  test("an app that is subscribed to again before its client is removed keeps it", async () => {
    const { clientId, subscriptionId } = await ready("kept");
    server.interfere = ({ method }, response) => method === "DELETE" && respond(response, 503, {});
    await ehr.change("cancelled", "kept", subscriptionId);
    await ehr.clientWhen(
      "kept",
      "it is to be removed",
      ({ status, attempt }) => status === "removing" && attempt === null,
    );
    await ehr.subscribe("kept");
    await ehr.clientWhen("kept", "it is ready", (client) => isReady(client) && client.clientId === clientId);
    server.interfere = () => false;
    assert.ok(server.clients.has(clientId ?? ""));
  });
});
