import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type RegisteredWebhookDto, webhookEventNames } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { endpointSecretOwner } from "./endpoint.ts";
import { endpointBody, registered } from "./register.test-support.ts";

const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
const path = "/developer/webhooks";

describe("registering an endpoint", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const rows = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(
      marketplace.database.ownerUrl,
      async (client) => (await client.query(text, values)).rows as unknown as T[],
    );
  const endpointsOf = async (vendor: string): Promise<string[]> => {
    const found = await rows<{ id: string }>(
      `select webhook_endpoints.id from webhook_endpoints join vendors on vendors.id = vendor_id
       where slug = $1 and deleted_at is null order by webhook_endpoints.id`,
      [vendor],
    );
    return found.map(({ id }) => id);
  };

  test("returns 201 with five fields, no secret, and a Location", async () => {
    const began = Date.now();
    const response = await marketplace.requestAs("northwind-developer", path, { body: endpointBody });
    assert.equal(response.status, 201, await response.clone().text());
    const endpoint = (await response.json()) as RegisteredWebhookDto;
    assert.match(endpoint.id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    assert.match(endpoint.createdAt, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    assert.ok(Date.parse(endpoint.createdAt) >= began && Date.parse(endpoint.createdAt) <= Date.now());
    const { id, createdAt } = endpoint;
    assert.deepEqual(endpoint, { id, url: endpointBody.url, events: endpointBody.events, status: "active", createdAt });
    assert.equal(response.headers.get("location"), `/api/v1${path}/${id}`);
    const found = await marketplace.requestAs("northwind-developer", `${path}/${id}`);
    assert.deepEqual(await found.json(), {
      ...endpoint,
      disabledReason: null,
      heldSince: null,
      nextProbeAt: null,
      rotation: null,
    });
  });

  test("accepts every event in any order, and keeps the order", async () => {
    const events = webhookEventNames.toReversed();
    assert.equal(events.length, 9);
    const endpoint = await registered(marketplace, { vendor: "emberyard", body: { events } });
    assert.deepEqual(endpoint.events, events);
  });

  for (const secret of [
    "sixteen letters!",
    "s".repeat(256),
    `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
    "ü".repeat(16),
  ]) {
    test(`encrypts the secret as given: ${secret.slice(0, 20)}`, async () => {
      const { id } = await registered(marketplace, { vendor: "fernhollow", body: { secret } });
      const [row] = await rows<{ encrypted_secret: string }>("select * from webhook_endpoints where id = $1", [id]);
      assert.equal(encryption.decrypt(row?.encrypted_secret ?? "", endpointSecretOwner(id)), secret);
    });
  }

  test("stores no plain-text secret in the database, a response or the log", async () => {
    const secret = "nobody must ever read this";
    const asking = { body: { ...endpointBody, secret }, headers: { "idempotency-key": "hushed" } };
    const response = await marketplace.requestAs("northwind-developer", path, asking);
    const { id } = (await response.clone().json()) as RegisteredWebhookDto;
    const shown = [
      await response.text(),
      await (await marketplace.requestAs("northwind-developer", path, asking)).text(),
      await (await marketplace.requestAs("northwind-developer", path)).text(),
      await (await marketplace.requestAs("northwind-developer", `${path}/${id}`)).text(),
    ].join("");
    const stored: unknown[] = [];
    for (const table of ["webhook_endpoints", "audit_entries", "idempotent_responses", "recipients", "events"]) {
      stored.push(await rows(`select to_json(${table})::text as dump from ${table}`));
    }
    assert.ok(JSON.stringify(stored).includes(id));
    for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
      const text = Buffer.from(secret).toString(coding).replace(/=+$/, "");
      assert.ok(!JSON.stringify(stored).includes(text), `the database holds the secret as ${coding}`);
      assert.ok(!shown.includes(text), `a response shows the secret as ${coding}`);
    }
    assert.doesNotMatch(shown, /encrypted_|"secret"/);
  });

  test("is in the audit log with the vendor and the actor", async () => {
    const { id, ...endpoint } = await registered(marketplace, { by: "lumen-developer" });
    const second = await registered(marketplace, { vendor: "lumen-medical" });
    const entries = await rows<Record<string, unknown>>(
      "select * from audit_entries where target_id = any ($1) order by at, id",
      [[id, second.id]],
    );
    assert.deepEqual(
      entries.map((entry) => [entry["actor_role"], entry["on_behalf_of"], entry["action"], entry["target_kind"]]),
      ["vendor-developer", "operator"].map((role) => [
        role,
        "vendor:lumen-medical",
        "webhook-endpoint.register",
        "webhook-endpoint",
      ]),
    );
    assert.equal(entries[0]?.["before"], null);
    assert.deepEqual(entries[0]?.["after"], {
      id,
      ...endpoint,
      disabledReason: null,
      heldSince: null,
      nextProbeAt: null,
      rotation: null,
    });
  });

  test("registers once per idempotency key; returns 422 for another body; a key of another vendor is independent", async () => {
    const token = await signToken(marketplace.callers, {
      sub: "of-two",
      vendor: ["kestrelway", "marrowgate"],
      roles: ["vendor-developer"],
    });
    const register = (vendor: string, body: object): Promise<Response> =>
      sendApiRequest(marketplace.url, path, token, {
        body,
        headers: { "idempotency-key": "k", "x-vendor-slug": vendor },
      });
    const responses = await Promise.all(Array.from({ length: 6 }, () => register("kestrelway", endpointBody)));
    const texts = await Promise.all(responses.map(async (response) => `${response.status} ${await response.text()}`));
    assert.equal(new Set(texts).size, 1, texts.join("\n"));
    assert.match(String(texts[0]), /^201 /);
    assert.equal((await endpointsOf("kestrelway")).length, 1);
    const otherSecret = { ...endpointBody, secret: "another secret than that" };
    await assertProblem(await register("kestrelway", otherSecret), 422, "idempotency-key-reused");
    const other = (await (await register("marrowgate", endpointBody)).json()) as RegisteredWebhookDto;
    assert.deepEqual(await endpointsOf("marrowgate"), [other.id]);
  });

  test("of 30 concurrent requests, 20 return 201 and 10 return 409; deleting one allows one more", async () => {
    const headers = { "x-vendor-slug": "copperfinch" };
    // On a busy machine, some wait too long for a connection, and are told to try again.
    const register = async (): Promise<Response> => {
      const response = await marketplace.requestAs("operator", path, { body: endpointBody, headers });
      return response.status === 503 ? register() : response;
    };
    const responses = await Promise.all(Array.from({ length: 30 }, register));
    const refused = responses.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 10);
    for (const response of refused) await assertProblem(response, 409, "too-many-endpoints");
    const endpoints = await endpointsOf("copperfinch");
    assert.equal(endpoints.length, 20);
    const [gone] = endpoints;
    const deleted = await marketplace.requestAs("operator", `${path}/${gone}`, { method: "DELETE", headers });
    assert.equal(deleted.status, 204, await deleted.text());
    assert.equal((await register()).status, 201);
    await assertProblem(await register(), 409, "too-many-endpoints");
    await registered(marketplace, { vendor: "edelgrat" });
  });

  const { secret: _, ...withoutSecret } = endpointBody;
  const invalid: [unknown, string][] = [
    [{}, "/body/url"],
    [withoutSecret, "/body/secret"],
    [{ ...endpointBody, url: "not a url" }, "/body/url"],
    [{ ...endpointBody, url: null }, "/body/url"],
    [{ ...endpointBody, url: `https://hooks.example/${"a".repeat(2_027)}` }, "/body/url"],
    [{ ...endpointBody, secret: "fifteen letters" }, "/body/secret"],
    [{ ...endpointBody, secret: "s".repeat(257) }, "/body/secret"],
    [{ ...endpointBody, secret: `nul\0${"s".repeat(16)}` }, "/body/secret"],
    [{ ...endpointBody, secret: "whsec_not base64 at all!" }, "/body/secret"],
    [{ ...endpointBody, secret: "whsec_c2hvcnQgc2VjcmV0" }, "/body/secret"],
    [{ ...endpointBody, events: [] }, "/body/events"],
    [{ ...endpointBody, events: "ping" }, "/body/events"],
    [{ ...endpointBody, events: ["ping", "ping"] }, "/body/events"],
    [{ ...endpointBody, events: ["ping", "subscription.deleted"] }, "/body/events/1"],
    [{ ...endpointBody, events: ["*"] }, "/body/events/0"],
    [{ ...endpointBody, vendor: "lumen-medical" }, "/body/vendor"],
    [{ ...endpointBody, status: "active" }, "/body/status"],
    [[], "/body"],
  ];
  for (const [body, pointer] of invalid) {
    test(`returns 400 at ${pointer} for ${JSON.stringify(body).slice(0, 110)}`, async () => {
      const headers = { "x-vendor-slug": "pocketlark" };
      const problem = await assertProblem(
        await marketplace.requestAs("operator", path, { body, headers }),
        400,
        "invalid-request",
      );
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join(", "));
      assert.deepEqual(await endpointsOf("pocketlark"), []);
    });
  }

  test("accepts a URL of 2,048 characters", async () => {
    const url = `https://hooks.example/${"a".repeat(2_026)}`;
    assert.equal(url.length, 2_048);
    assert.equal((await registered(marketplace, { vendor: "tarnbrook", body: { url } })).url, url);
  });

  test("returns 403 for other roles than developer and operator, and 401 without a token", async () => {
    const strangers = ["riverside-admin", "riverside-member", "billing", "ehr-service", "launch-redeemer"] as const;
    for (const who of strangers) {
      const headers = { "x-vendor-slug": "northwind-health" };
      await assertProblem(await marketplace.requestAs(who, path, { body: endpointBody, headers }), 403, "forbidden");
    }
    await assertProblem(await marketplace.requestAs(null, path, { body: endpointBody }), 401, "unauthorized");
  });

  test("restricts developers to the token's vendors, and requires X-Vendor-Slug when there are several", async () => {
    const token = await signToken(marketplace.callers, {
      vendor: ["quillmoor", "sundial-row"],
      roles: ["vendor-developer"],
    });
    const register = (headers: Record<string, string>): Promise<Response> =>
      sendApiRequest(marketplace.url, path, token, { body: endpointBody, headers });
    const { detail } = await assertProblem(await register({}), 400, "invalid-request");
    assert.equal(detail, "The token names 2 vendors; name the one that you act for in X-Vendor-Slug.");
    await assertProblem(await register({ "x-vendor-slug": "northwind-health" }), 403, "forbidden");
    assert.equal((await register({ "x-vendor-slug": "sundial-row" })).status, 201);
    assert.deepEqual([(await endpointsOf("quillmoor")).length, (await endpointsOf("sundial-row")).length], [0, 1]);
  });

  test("requires X-Vendor-Slug from operators", async () => {
    const { detail } = await assertProblem(
      await marketplace.requestAs("operator", path, { body: endpointBody }),
      400,
      "invalid-request",
    );
    assert.equal(detail, "Name the vendor that you act for in X-Vendor-Slug.");
  });

  test("returns 422 for an unknown vendor", async () => {
    const headers = { "x-vendor-slug": "elsewhere-software" };
    const byOperator = await marketplace.requestAs("operator", path, { body: endpointBody, headers });
    await assertProblem(byOperator, 422, "unknown-vendor");
    const claims = { vendor: "elsewhere-software", roles: ["vendor-developer"] };
    const token = await signToken(marketplace.callers, claims);
    await assertProblem(
      await sendApiRequest(marketplace.url, path, token, { body: endpointBody }),
      422,
      "unknown-vendor",
    );
  });
});
