import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { signBody } from "@ehr-marketplace/webhook-signature";
import {
  apps,
  clients,
  consume,
  difference,
  type ErrorTest,
  kib,
  patientId,
  putSecret,
  reconcile,
  startErrorTest,
  webhook,
} from "./error-responses.test-support.ts";
import { change, type Practice } from "./installations/installations.test-support.ts";
import { eventOf, hilltop, secretOf, send } from "./marketplace-events/events.test-support.ts";

describe("refused requests get an error in the wrapper", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let documented: ErrorTest["documented"];
  let installed: ErrorTest["installed"];
  let refused: ErrorTest["refused"];
  before(async () => {
    ({ practice, documented, installed, refused } = await startErrorTest(cleanUp));
  });
  const json = { "content-type": "application/json" };

  for (const path of ["/nowhere", "/api/nowhere", "/api/v1/apps", "/problems/forbidden", "/docs/x"]) {
    test(`returns 404 for the unknown path ${path}`, async () => {
      await assertFailure(await fetch(`${practice.ehr.url}${path}`), 404);
      await assertFailure(await fetch(`${practice.ehr.url}${path}`, { method: "POST", body: "x" }), 404);
    });
  }

  for (const [method, path, allowed] of [
    ["DELETE", "/api/app-installations", "GET, HEAD"],
    ["GET", "/api/app-installations/some-app/launch", "POST"],
    ["POST", "/api/app-installations/some-app/config", "PUT"],
    ["GET", "/api/internal/marketplace-webhook", "POST"],
    ["DELETE", "/api/admin/organisations/some-org/secret", "PUT"],
    ["PUT", "/health/live", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["POST", "/api", "GET, HEAD"],
  ] as const) {
    test(`returns 405 with Allow for ${method} ${path}`, async () => {
      const response = await fetch(`${practice.ehr.url}${path}`, { method });
      assert.equal(response.headers.get("allow"), allowed);
      await assertFailure(response, 405);
    });
  }

  const importSecrets = "/admin/organisations/import";
  const closed = [
    ["GET", apps],
    ["GET", `${apps}/some-app`],
    ["GET", `${apps}/some-app/installed`],
    ["PUT", `${apps}/some-app/config`],
    ["POST", `${apps}/some-app/launch`],
    ["GET", `${apps}/some-app/launches`],
    ["GET", "/internal/app-installations/some-app/config"],
    ["POST", consume],
    ["PUT", putSecret],
    ["POST", importSecrets],
    ["POST", reconcile],
    ["GET", "/admin/audit"],
    [
      "GET",
      `/internal/app-clients?${new URLSearchParams({ clientId: "a-client", orgAlias: "riverside-clinic" }).toString()}`,
    ],
    ["GET", "/admin/clients"],
    ["GET", clients.managed],
    ["PUT", clients.managed],
    ["DELETE", clients.managed],
    ["POST", `${clients.managed}/retry`],
    ["GET", "/admin/differences"],
    ["POST", `${difference}/apply`],
    ["POST", `${difference}/keep`],
  ] as const;

  test("returns 401 without a token and with an invalid one", async () => {
    for (const [method, path] of closed) {
      const { headers } = await refused(401, path, { as: null, method });
      assert.equal(headers.get("www-authenticate"), 'Bearer realm="api"', path);
      const { headers: bad } = await refused(401, path, { as: null, method, headers: { authorization: "Bearer abc" } });
      assert.match(bad.get("www-authenticate") ?? "", /^Bearer realm="api", error="invalid_token"/, path);
      await refused(401, path, { as: null, method, headers: { authorization: "Basic abc" } });
    }
  });

  test("returns 401 for an invalid or missing signature", async () => {
    for (const signature of [{}, { "x-marketplace-signature": "0".repeat(64) }]) {
      const { headers } = await refused(401, webhook, { as: null, body: {}, headers: signature });
      assert.match(headers.get("www-authenticate") ?? "", /^\S+ realm=/);
    }
  });

  test("returns 403 for a caller without the role or the organisation", async () => {
    for (const [method, path] of closed) await refused(403, path, { as: "northwind-developer", method });
    await refused(403, apps, { headers: { "x-org-alias": "hilltop-family-practice" } });
  });

  test("returns 404 for an app that isn't installed", async () => {
    for (const path of [`${apps}/unheard-of`, `${apps}/unheard-of/launches`, `${apps}/${encodeURIComponent("a/b")}`]) {
      await refused(404, path);
    }
    await refused(404, `${apps}/unheard-of/config`, { method: "PUT", body: {} });
    await refused(404, `${apps}/unheard-of/launch`, { body: {} });
    await refused(404, "/internal/app-installations/unheard-of/config", {
      as: "ehr-service",
      headers: { "x-org-alias": "riverside-clinic" },
    });
  });

  test("returns 404 to an operator who names an unknown organisation", async () => {
    const unknown = { as: "operator", headers: { "x-org-alias": "riverside-clinc" } } as const;
    for (const path of [apps, `${apps}/${installed.native}`, `${apps}/${installed.native}/installed`]) {
      assert.equal((await refused(404, path, unknown)).message, "No organisation with that alias exists.");
    }
    const put = { method: "PUT", body: { secret: "the secret of one without apps" } };
    assert.equal((await practice.as("operator", "/admin/organisations/without-apps/secret", put)).status, 201);
    const known = await practice.as("operator", apps, { headers: { "x-org-alias": "without-apps" } });
    assert.equal(known.status, 200, "an organisation without apps is known");
  });

  test("returns 409 for a paused app, 410 for a used launch and 422 for an unusable schema", async () => {
    await refused(409, `${apps}/${installed.paused}/launch`, { body: {} });
    await refused(422, `${apps}/${installed.native}/launch`, { body: { launchType: "smart" } });
    await refused(422, `${apps}/${installed.unusable}/config`, { method: "PUT", body: {} });
    const body = { launch: "unheard-of", orgAlias: "riverside-clinic", appSlug: installed.native, user: "somebody" };
    await refused(410, consume, { as: "launch-redeemer", body });
    await refused(409, reconcile, { as: "operator", method: "POST" });
  });

  test("returns 422 for an event beyond the organisation's limit of subscriptions", async () => {
    await change(
      practice.database.ownerUrl,
      `insert into subscriptions
       select 'hilltop-family-practice', gen_random_uuid(), $1, 'active', now(), now() from generate_series(1, 1000)`,
      [installed.native],
    );
    const body = eventOf({ what: "created", id: randomUUID(), at: Date.now(), orgAlias: hilltop });
    const headers = {
      "x-marketplace-signature": signBody(JSON.stringify(body), secretOf(hilltop)),
      "x-marketplace-delivery-id": "one",
    };
    assert.match((await refused(422, webhook, { as: null, body, headers })).message, /1000 live subscriptions/);
  });

  test("returns 404 for an unknown client or difference, and 409 for one that this service manages or has a request for", async () => {
    const put = { as: "operator", method: "PUT", body: { clientId: "another" } } as const;
    await refused(404, clients.unknown, { as: "operator" });
    await refused(404, clients.unknown, put);
    await refused(404, clients.unknown, { as: "operator", method: "DELETE" });
    await refused(404, `${clients.unknown}/retry`, { as: "operator", method: "POST" });
    for (const verb of ["apply", "keep"]) {
      await refused(404, `${difference}/${verb}`, { as: "operator", method: "POST" });
    }
    await refused(409, clients.managed, put);
    await refused(409, clients.managed, { as: "operator", method: "DELETE" });
    assert.match((await refused(409, clients.busy, put)).message, /in progress/);
    assert.match(
      (await refused(409, `${clients.busy}/retry`, { as: "operator", method: "POST" })).message,
      /in progress/,
    );
  });

  test("returns 400 for a client_id with other characters than ASCII's, and for parameters that are missing", async () => {
    const put = { as: "operator", method: "PUT" } as const;
    for (const clientId of ["", "one\n", "é"]) await refused(400, clients.managed, { ...put, body: { clientId } });
    await refused(400, "/admin/clients/none", { as: "operator" });
    await refused(400, "/admin/clients?status=none", { as: "operator" });
    await refused(400, "/admin/differences?kept=maybe", { as: "operator" });
    for (const verb of ["apply", "keep"]) {
      await refused(400, `/admin/differences/none/${verb}`, { as: "operator", method: "POST" });
    }
    await refused(400, "/internal/app-clients?clientId=one", { as: "launch-redeemer" });
    await refused(400, "/internal/app-clients?orgAlias=one", { as: "launch-redeemer" });
  });

  for (const [what, raw] of [
    ["no JSON", "{"],
    ["null", "null"],
    ["no object", "[]"],
    ["NUL", '{"patientId": "a\\u0000b"}'],
    ["an unknown field", '{"ward": 3}'],
    ["a field of another type", '{"patientId": 3}'],
    ["no FHIR id", `{"patientId": "${patientId}_"}`],
    ["a launchType that is none", '{"launchType": "telepathic"}'],
    ["a prototype", '{"__proto__": {"patientId": "x"}}'],
  ] as const) {
    test(`returns 400 for a body with ${what}`, async () => {
      const { message } = await refused(400, `${apps}/${installed.native}/launch`, { raw, headers: json });
      assert.ok(!message.includes(patientId), "what was sent isn't repeated");
    });
  }

  test("returns 400 with the keys for a configuration that is invalid against the app's schema", async () => {
    const { message } = await refused(400, `${apps}/${installed.native}/config`, {
      method: "PUT",
      body: { language: "tlh", x: 1 },
    });
    assert.match(message, /\/body\/language/);
    assert.match(message, /\/body\/x/);
  });

  test("returns 400 for a secret that is too short or has invalid Base64", async () => {
    const request = { as: "operator", method: "PUT" } as const;
    await refused(400, putSecret, { ...request, body: { secret: "short" } });
    await refused(400, putSecret, { ...request, body: { secret: "whsec_not*base64*at*all" } });
  });

  test("returns 400 for an invalid event, one from the future, and one without delivery id", async () => {
    const event = eventOf({ what: "created", id: patientId, at: Date.now() });
    for (const [body, deliveryId] of [
      [{ ...event, app: null }, "1"],
      [{ ...event, timestamp: new Date(Date.now() + 600_000).toISOString() }, "1"],
      [event, null],
    ] as const) {
      const returned = await send(practice.ehr.url, { body, deliveryId });
      assert.equal(returned.status, 400, returned.message);
    }
  });

  test("returns 400 for malformed paths and queries", async () => {
    for (const path of ["%", "%zz", "%ff", "a%00b"]) await refused(400, `${apps}/${path}`);
    await refused(400, `${apps}/${installed.native}/launches?limit=1&limit=2`);
    await refused(400, `${apps}/${installed.native}/launches?limit=none`);
    await refused(400, `${apps}/${installed.native}/launches?after=none`);
    await refused(400, `/admin/organisations/${encodeURIComponent("no alias")}/reconcile`, {
      as: "operator",
      method: "POST",
    });
  });

  test("returns 413 for bodies that are too large", async () => {
    await refused(413, `${apps}/${installed.native}/config`, { method: "PUT", body: { language: kib(65) } });
    await refused(413, `${apps}/${installed.native}/launch`, { body: { patientId: kib(17) } });
    await refused(413, webhook, { as: null, body: { event: kib(65) } });
    await refused(413, putSecret, { as: "operator", method: "PUT", body: { secret: kib(17) } });
    const ndjson = { "content-type": "application/x-ndjson" };
    await refused(413, importSecrets, { as: "operator", raw: "{}\n".repeat(1_001), headers: ndjson });
    await refused(413, reconcile, { as: "operator", body: { x: kib(17) } });
    await refused(413, clients.managed, { as: "operator", method: "PUT", body: { clientId: kib(17) } });
    await refused(413, clients.managed, { as: "operator", method: "DELETE", body: { x: kib(17) } });
    await refused(413, `${clients.managed}/retry`, { as: "operator", body: { x: kib(17) } });
    for (const verb of ["apply", "keep"]) {
      await refused(413, `${difference}/${verb}`, { as: "operator", body: { x: kib(17) } });
    }
    await refused(413, consume, { as: "launch-redeemer", body: { launch: kib(17) } });
  });

  test("returns 414 for a URL and 431 for headers that are too long", async () => {
    await refused(414, `${apps}?x=${kib(9)}`);
    await refused(431, apps, { headers: { "x-large": kib(20) } });
  });

  test("returns 415 for bodies without a JSON content type", async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": type };
      await refused(415, `${apps}/${installed.native}/launch`, { raw: "{}", headers });
      await refused(415, `${apps}/${installed.native}/config`, { method: "PUT", raw: "{}", headers });
      await refused(415, webhook, { raw: "{}", headers });
      await refused(415, importSecrets, { as: "operator", raw: "{}", headers });
      await refused(415, reconcile, { as: "operator", raw: "{}", headers });
      await refused(415, clients.managed, { as: "operator", method: "PUT", raw: "{}", headers });
      await refused(415, clients.managed, { as: "operator", method: "DELETE", raw: "{}", headers });
      await refused(415, `${clients.managed}/retry`, { as: "operator", raw: "{}", headers });
      await refused(415, `${difference}/apply`, { as: "operator", raw: "{}", headers });
      await refused(415, `${difference}/keep`, { as: "operator", raw: "{}", headers });
      await refused(415, consume, { as: "launch-redeemer", raw: "{}", headers });
      await refused(415, putSecret, { as: "operator", method: "PUT", raw: "{}", headers });
    }
  });

  test("returns 500 without details for an unexpected error", async () => {
    const { ownerUrl } = practice.database;
    await change(ownerUrl, "alter table launches rename to launches_gone");
    const path = `${apps}/${installed.native}/launches`;
    assert.deepEqual((await refused(500, path)).message, "An unexpected error occurred.");
    await refused(500, `${apps}/${installed.native}/launch`, { body: { patientId } });
    await change(ownerUrl, "alter table launches_gone rename to launches");
  });

  test("covers every error in the OpenAPI document, except those of any request", () => {
    const ofAny = new Set(["400", "408", "414", "429", "431", "500", "503"]);
    // A marketplace with credentials: the tests of that feature.
    const elsewhere = ["reconcile 404"];
    const unseen = documented.documented.filter((what) => {
      const [, status = ""] = what.split(" ");
      return Number(status) >= 400 && !ofAny.has(status) && !documented.observed.has(what);
    });
    assert.deepEqual(unseen, elsewhere, "cause each of these errors in this file; `closed` has routes with a token");
  });
});
