import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { assertFailure, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { signBody } from "@ehr-marketplace/webhook-signature";
import {
  apps,
  consume,
  kib,
  patientId,
  putSecret,
  type Refusing,
  reconcile,
  startRefusing,
  webhook,
} from "./answers.test-support.ts";
import { change, type Practice } from "./installations/installations.test-support.ts";
import { eventOf, hilltop, secretOf, send } from "./marketplace-events/events.test-support.ts";

describe("whatever is refused is answered in the wrapper", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let documented: Refusing["documented"];
  let installed: Refusing["installed"];
  let refused: Refusing["refused"];
  before(async () => {
    ({ practice, documented, installed, refused } = await startRefusing(cleanUp));
  });
  const json = { "content-type": "application/json" };

  for (const path of [
    "/",
    "/nowhere",
    "/api",
    "/api/",
    "/api/nowhere",
    "/api/v1/apps",
    "/problems/forbidden",
    "/docs/x",
  ]) {
    test(`404: nothing is at ${path}`, async () => {
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
  ] as const) {
    test(`405: ${method} ${path} names what is allowed`, async () => {
      const answer = await fetch(`${practice.ehr.url}${path}`, { method });
      assert.equal(answer.headers.get("allow"), allowed);
      await assertFailure(answer, 405);
    });
  }

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
    ["POST", reconcile],
    ["GET", "/admin/audit"],
  ] as const;

  test("401: without a token, and with one that is none", async () => {
    for (const [method, path] of closed) {
      const { headers } = await refused(401, path, { as: null, method });
      assert.equal(headers.get("www-authenticate"), 'Bearer realm="api"', path);
      const { headers: bad } = await refused(401, path, { as: null, method, headers: { authorization: "Bearer abc" } });
      assert.match(bad.get("www-authenticate") ?? "", /^Bearer realm="api", error="invalid_token"/, path);
      await refused(401, path, { as: null, method, headers: { authorization: "Basic abc" } });
    }
  });

  test("401: a signature that nobody's secret made, or none", async () => {
    for (const signature of [{}, { "x-marketplace-signature": "0".repeat(64) }]) {
      const { headers } = await refused(401, webhook, { as: null, body: {}, headers: signature });
      assert.match(headers.get("www-authenticate") ?? "", /^\S+ realm=/);
    }
  });

  test("403: not for this caller, or not for this organisation", async () => {
    for (const [method, path] of closed) await refused(403, path, { as: "northwind-developer", method });
    await refused(403, apps, { headers: { "x-org-alias": "hilltop-family-practice" } });
  });

  test("404: what isn't installed", async () => {
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

  test("409, 410 and 422: what isn't possible now, not any more, and not with this app", async () => {
    await refused(409, `${apps}/${installed.paused}/launch`, { body: {} });
    await refused(422, `${apps}/${installed.native}/launch`, { body: { launchType: "smart" } });
    await refused(422, `${apps}/${installed.unusable}/config`, { method: "PUT", body: {} });
    const body = { launch: "unheard-of", orgAlias: "riverside-clinic", appSlug: installed.native, user: "somebody" };
    await refused(410, consume, { as: "launch-redeemer", body });
    await refused(409, reconcile, { as: "operator", method: "POST" });
  });

  test("422: an event for an organisation that has as many subscriptions as events may create", async () => {
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
    test(`400: a body with ${what}`, async () => {
      const { message } = await refused(400, `${apps}/${installed.native}/launch`, { raw, headers: json });
      assert.ok(!message.includes(patientId), "what was sent isn't repeated");
    });
  }

  test("400: a configuration that the app's schema refuses names the keys", async () => {
    const { message } = await refused(400, `${apps}/${installed.native}/config`, {
      method: "PUT",
      body: { language: "tlh", x: 1 },
    });
    assert.match(message, /\/body\/language/);
    assert.match(message, /\/body\/x/);
  });

  test("400: a secret too short, and one that isn't Base64 though it says so", async () => {
    const asking = { as: "operator", method: "PUT" } as const;
    await refused(400, putSecret, { ...asking, body: { secret: "short" } });
    await refused(400, putSecret, { ...asking, body: { secret: "whsec_not*base64*at*all" } });
  });

  test("400: an event of another form, one from the future, and one without delivery id", async () => {
    const event = eventOf({ what: "created", id: patientId, at: Date.now() });
    for (const [body, deliveryId] of [
      [{ ...event, app: null }, "1"],
      [{ ...event, timestamp: new Date(Date.now() + 600_000).toISOString() }, "1"],
      [event, null],
    ] as const) {
      const answered = await send(practice.ehr.url, { body, deliveryId });
      assert.equal(answered.status, 400, answered.message);
    }
  });

  test("400: paths and queries that are malformed", async () => {
    for (const path of ["%", "%zz", "%ff", "a%00b"]) await refused(400, `${apps}/${path}`);
    await refused(400, `${apps}/${installed.native}/launches?limit=1&limit=2`);
    await refused(400, `${apps}/${installed.native}/launches?limit=none`);
    await refused(400, `${apps}/${installed.native}/launches?after=none`);
    await refused(400, `/admin/organisations/${encodeURIComponent("no alias")}/reconcile`, {
      as: "operator",
      method: "POST",
    });
  });

  test("413: bodies that are too large", async () => {
    await refused(413, `${apps}/${installed.native}/config`, { method: "PUT", body: { language: kib(65) } });
    await refused(413, `${apps}/${installed.native}/launch`, { body: { patientId: kib(17) } });
    await refused(413, webhook, { as: null, body: { event: kib(65) } });
    await refused(413, putSecret, { as: "operator", method: "PUT", body: { secret: kib(17) } });
    await refused(413, reconcile, { as: "operator", body: { x: kib(17) } });
    await refused(413, consume, { as: "launch-redeemer", body: { launch: kib(17) } });
  });

  test("414 and 431: a URL and headers that are too long", async () => {
    await refused(414, `${apps}?x=${kib(9)}`);
    await refused(431, apps, { headers: { "x-large": kib(20) } });
  });

  test("415: bodies that are not said to be JSON", async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": type };
      await refused(415, `${apps}/${installed.native}/launch`, { raw: "{}", headers });
      await refused(415, `${apps}/${installed.native}/config`, { method: "PUT", raw: "{}", headers });
      await refused(415, webhook, { raw: "{}", headers });
      await refused(415, reconcile, { as: "operator", raw: "{}", headers });
      await refused(415, consume, { as: "launch-redeemer", raw: "{}", headers });
      await refused(415, putSecret, { as: "operator", method: "PUT", raw: "{}", headers });
    }
  });

  test("500: what nobody thought of says nothing of itself", async () => {
    const { ownerUrl } = practice.database;
    await change(ownerUrl, "alter table launches rename to launches_gone");
    const path = `${apps}/${installed.native}/launches`;
    assert.deepEqual((await refused(500, path)).message, "Something went wrong on our side.");
    await refused(500, `${apps}/${installed.native}/launch`, { body: { patientId } });
    await change(ownerUrl, "alter table launches_gone rename to launches");
  });

  test("every error that the document names was seen, but for those that any request may meet", () => {
    const ofAny = new Set(["400", "408", "414", "429", "431", "500", "503"]);
    // A marketplace with credentials: the tests of that feature.
    const elsewhere = ["reconcile 404"];
    const unseen = documented.promised.filter((what) => {
      const [, status = ""] = what.split(" ");
      return Number(status) >= 400 && !ofAny.has(status) && !documented.seen.has(what);
    });
    assert.deepEqual(unseen, elsewhere);
  });
});
