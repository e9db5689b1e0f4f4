import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { freePort } from "../../free-port.ts";
import { AppClients } from "./app-clients.ts";

const active = { active: true, appSlug: "an-app", subscriptionId: "a-subscription", fhirScopes: "launch openid" };
const inactive = { active: false, appSlug: null, subscriptionId: null, fhirScopes: null };
const app = { appSlug: "an-app", subscriptionId: "a-subscription", fhirScopes: "launch openid" };

/** Against a server that responds as the EHR's contract says, or doesn't. */
describe("whether an app's client may have a token", () => {
  const cleanUp = cleanUpAfter();
  const requests: string[] = [];
  let ehrUrl: string;
  let response: { status: number; headers?: Record<string, string>; body: string };
  let now = 0;
  const clients = (url = ehrUrl): AppClients =>
    new AppClients({ ehrUrl: url, getToken: async () => "a-token", now: () => now });
  const say = (data: object, headers = { "cache-control": "private, max-age=60" }): void => {
    response = { status: 200, headers, body: JSON.stringify({ success: true, message: "", data }) };
  };

  before(async () => {
    const server = createServer((request, outgoing) => {
      requests.push(`${request.headers.authorization} ${request.url}`);
      outgoing.writeHead(response.status, response.headers).end(response.body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.close();
      server.closeAllConnections();
    });
    ehrUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requests.length = 0;
    now = 1_000;
    say(active);
  });

  test("is asked with the redeemer's token, by client and organisation", async () => {
    assert.deepEqual(await clients().find("https://a.example/client?x=1&y", "riverside-clinic"), app);
    assert.deepEqual(requests, [
      "Bearer a-token /api/internal/app-clients?clientId=https%3A%2F%2Fa.example%2Fclient%3Fx%3D1%26y&orgAlias=riverside-clinic",
    ]);
  });

  test("is known for 60 seconds, and not longer", async () => {
    const known = clients();
    await known.find("a-client", "riverside-clinic");
    say(inactive);
    now += 59_999;
    assert.deepEqual(await known.find("a-client", "riverside-clinic"), app);
    assert.equal(requests.length, 1);
    now += 1;
    assert.equal(await known.find("a-client", "riverside-clinic"), undefined);
    assert.equal(requests.length, 2);
  });

  test("is known for a shorter time if the EHR says so, and for no longer than 60 seconds", async () => {
    for (const [cacheControl, cachedForMs] of [
      ["private, max-age=10", 10_000],
      ["max-age=3600", 60_000],
      ["no-store", 0],
    ] as const) {
      const known = clients();
      requests.length = 0;
      say(active, { "cache-control": cacheControl });
      await known.find("a-client", "riverside-clinic");
      now += cachedForMs - 1;
      await known.find("a-client", "riverside-clinic");
      assert.equal(requests.length, cachedForMs === 0 ? 2 : 1, cacheControl);
      now += 1;
      await known.find("a-client", "riverside-clinic");
      assert.equal(requests.length, cachedForMs === 0 ? 3 : 2, cacheControl);
    }
  });

  test("is asked again at once after a no, so that a resumed app works", async () => {
    const known = clients();
    say(inactive);
    assert.equal(await known.find("a-client", "riverside-clinic"), undefined);
    say(active);
    assert.deepEqual(await known.find("a-client", "riverside-clinic"), app);
  });

  test("is asked for each client and organisation by itself", async () => {
    const known = clients();
    for (const [clientId, orgAlias] of [
      ["a", "b"],
      ["a", "c"],
      ["b", "b"],
    ] as const) {
      await known.find(clientId, orgAlias);
    }
    assert.equal(requests.length, 3);
  });

  test("is unknown while the EHR doesn't say, and then no token is issued", async () => {
    for (const broken of [
      { status: 500, body: "{}" },
      { status: 403, body: JSON.stringify({ success: false, message: "", data: active }) },
      { status: 200, body: "<html>" },
      { status: 200, body: JSON.stringify({ success: true, data: {} }) },
      { status: 200, body: JSON.stringify({ success: true, data: { active: true } }) },
      { status: 302, headers: { location: "/elsewhere" }, body: "" },
    ]) {
      response = broken;
      await assert.rejects(clients().find("a-client", "riverside-clinic"), { error: "temporarily_unavailable" });
    }
    const unreachable = clients(`http://127.0.0.1:${await freePort()}`);
    await assert.rejects(unreachable.find("a-client", "riverside-clinic"), { error: "temporarily_unavailable" });
  });
});
