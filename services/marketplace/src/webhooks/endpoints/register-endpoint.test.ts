import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type RegisteredWebhookDto, webhookEventNames } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import {
  ask,
  assertProblem,
  cleanUpAfter,
  type PeopledMarketplace,
  signedToken,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import { endpointSecretOwner } from "./endpoint.ts";
import { registered, wanted } from "./register.test-support.ts";

const seal = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
const path = "/developer/webhooks";

describe("registering an endpoint", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
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

  test("is 201 with these five fields and no secret, and Location leads to it", async () => {
    const began = Date.now();
    const answer = await marketplace.as("northwind-developer", path, { body: wanted });
    assert.equal(answer.status, 201, await answer.clone().text());
    const endpoint = (await answer.json()) as RegisteredWebhookDto;
    assert.match(endpoint.id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    assert.match(endpoint.createdAt, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    assert.ok(Date.parse(endpoint.createdAt) >= began && Date.parse(endpoint.createdAt) <= Date.now());
    const { id, createdAt } = endpoint;
    assert.deepEqual(endpoint, { id, url: wanted.url, events: wanted.events, status: "active", createdAt });
    assert.equal(answer.headers.get("location"), `/api/v1${path}/${id}`);
    const found = await marketplace.as("northwind-developer", `${path}/${id}`);
    assert.deepEqual(await found.json(), { ...endpoint, disabledReason: null, heldSince: null, rotation: null });
  });

  test("every event can be named, in any order, which stays", async () => {
    const events = webhookEventNames.toReversed();
    assert.equal(events.length, 7);
    const endpoint = await registered(marketplace, { vendor: "emberyard", body: { events } });
    assert.deepEqual(endpoint.events, events);
  });

  for (const secret of [
    "sixteen letters!",
    "s".repeat(256),
    `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
    "ü".repeat(16),
  ]) {
    test(`a secret is sealed as it was given: ${secret.slice(0, 20)}`, async () => {
      const { id } = await registered(marketplace, { vendor: "fernhollow", body: { secret } });
      const [row] = await rows<{ sealed_secret: string }>("select * from webhook_endpoints where id = $1", [id]);
      assert.equal(seal.open(row?.sealed_secret ?? "", endpointSecretOwner(id)), secret);
    });
  }

  test("the secret is nowhere in clear: not in the database, not in an answer, not in the log", async () => {
    const secret = "nobody must ever read this";
    const asking = { body: { ...wanted, secret }, headers: { "idempotency-key": "hushed" } };
    const answer = await marketplace.as("northwind-developer", path, asking);
    const { id } = (await answer.clone().json()) as RegisteredWebhookDto;
    const shown = [
      await answer.text(),
      await (await marketplace.as("northwind-developer", path, asking)).text(),
      await (await marketplace.as("northwind-developer", path)).text(),
      await (await marketplace.as("northwind-developer", `${path}/${id}`)).text(),
    ].join("");
    const stored: unknown[] = [];
    for (const table of ["webhook_endpoints", "audit_entries", "idempotent_answers", "recipients", "events"]) {
      stored.push(await rows(`select to_json(${table})::text as dump from ${table}`));
    }
    assert.ok(JSON.stringify(stored).includes(id));
    for (const coding of ["utf8", "base64", "base64url", "hex"] as const) {
      const text = Buffer.from(secret).toString(coding).replace(/=+$/, "");
      assert.ok(!JSON.stringify(stored).includes(text), `the database holds the secret as ${coding}`);
      assert.ok(!shown.includes(text), `an answer shows the secret as ${coding}`);
    }
    assert.doesNotMatch(shown, /sealed|"secret"/);
  });

  test("is in the audit log, for the vendor, by whoever did it", async () => {
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
    assert.deepEqual(entries[0]?.["after"], { id, ...endpoint, disabledReason: null, heldSince: null, rotation: null });
  });

  test("a repeated key registers once; with another body it is 422; for another vendor it is another request", async () => {
    const token = await signedToken(marketplace.callers, {
      sub: "of-two",
      vendor: ["kestrelway", "marrowgate"],
      roles: ["vendor-developer"],
    });
    const register = (vendor: string, body: object): Promise<Response> =>
      ask(marketplace.url, path, token, { body, headers: { "idempotency-key": "k", "x-vendor-slug": vendor } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => register("kestrelway", wanted)));
    const texts = await Promise.all(answers.map(async (answer) => `${answer.status} ${await answer.text()}`));
    assert.equal(new Set(texts).size, 1, texts.join("\n"));
    assert.match(String(texts[0]), /^201 /);
    assert.equal((await endpointsOf("kestrelway")).length, 1);
    const otherSecret = { ...wanted, secret: "another secret than that" };
    await assertProblem(await register("kestrelway", otherSecret), 422, "idempotency-key-reused");
    const other = (await (await register("marrowgate", wanted)).json()) as RegisteredWebhookDto;
    assert.deepEqual(await endpointsOf("marrowgate"), [other.id]);
  });

  test("of 30 at once, 20 are registered and 10 are 409; one that is deleted makes room for one", async () => {
    const headers = { "x-vendor-slug": "copperfinch" };
    const register = (): Promise<Response> => marketplace.as("operator", path, { body: wanted, headers });
    const answers = await Promise.all(Array.from({ length: 30 }, register));
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 10);
    for (const answer of refused) await assertProblem(answer, 409, "too-many-endpoints");
    const endpoints = await endpointsOf("copperfinch");
    assert.equal(endpoints.length, 20);
    const [gone] = endpoints;
    const deleted = await marketplace.as("operator", `${path}/${gone}`, { method: "DELETE", headers });
    assert.equal(deleted.status, 204, await deleted.text());
    assert.equal((await register()).status, 201);
    await assertProblem(await register(), 409, "too-many-endpoints");
    await registered(marketplace, { vendor: "edelgrat" });
  });

  const { secret: _, ...withoutSecret } = wanted;
  const invalid: [unknown, string][] = [
    [{}, "/body/url"],
    [withoutSecret, "/body/secret"],
    [{ ...wanted, url: "not a url" }, "/body/url"],
    [{ ...wanted, url: null }, "/body/url"],
    [{ ...wanted, url: `https://hooks.example/${"a".repeat(2_027)}` }, "/body/url"],
    [{ ...wanted, secret: "fifteen letters" }, "/body/secret"],
    [{ ...wanted, secret: "s".repeat(257) }, "/body/secret"],
    [{ ...wanted, secret: `nul\0${"s".repeat(16)}` }, "/body/secret"],
    [{ ...wanted, secret: "whsec_not base64 at all!" }, "/body/secret"],
    [{ ...wanted, secret: "whsec_c2hvcnQgc2VjcmV0" }, "/body/secret"],
    [{ ...wanted, events: [] }, "/body/events"],
    [{ ...wanted, events: "ping" }, "/body/events"],
    [{ ...wanted, events: ["ping", "ping"] }, "/body/events"],
    [{ ...wanted, events: ["ping", "subscription.deleted"] }, "/body/events/1"],
    [{ ...wanted, events: ["*"] }, "/body/events/0"],
    [{ ...wanted, vendor: "lumen-medical" }, "/body/vendor"],
    [{ ...wanted, status: "active" }, "/body/status"],
    [[], "/body"],
  ];
  for (const [body, pointer] of invalid) {
    test(`400 at ${pointer}: ${JSON.stringify(body).slice(0, 110)}`, async () => {
      const headers = { "x-vendor-slug": "pocketlark" };
      const problem = await assertProblem(
        await marketplace.as("operator", path, { body, headers }),
        400,
        "invalid-request",
      );
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join(", "));
      assert.deepEqual(await endpointsOf("pocketlark"), []);
    });
  }

  test("a URL of 2,048 characters is not too long", async () => {
    const url = `https://hooks.example/${"a".repeat(2_026)}`;
    assert.equal(url.length, 2_048);
    assert.equal((await registered(marketplace, { vendor: "tarnbrook", body: { url } })).url, url);
  });

  test("is for a vendor's developers and for operators: 403 for others, 401 without a token", async () => {
    const strangers = ["riverside-admin", "riverside-member", "billing", "ehr-service", "launch-redeemer"] as const;
    for (const who of strangers) {
      const headers = { "x-vendor-slug": "northwind-health" };
      await assertProblem(await marketplace.as(who, path, { body: wanted, headers }), 403, "forbidden");
    }
    await assertProblem(await marketplace.as(null, path, { body: wanted }), 401, "unauthorized");
  });

  test("a developer acts for a vendor of the token only, and says for which where there are several", async () => {
    const token = await signedToken(marketplace.callers, {
      vendor: ["quillmoor", "sundial-row"],
      roles: ["vendor-developer"],
    });
    const register = (headers: Record<string, string>): Promise<Response> =>
      ask(marketplace.url, path, token, { body: wanted, headers });
    const { detail } = await assertProblem(await register({}), 403, "forbidden");
    assert.match(String(detail), /names 2 vendors; say in X-Vendor-Slug/);
    await assertProblem(await register({ "x-vendor-slug": "northwind-health" }), 403, "forbidden");
    assert.equal((await register({ "x-vendor-slug": "sundial-row" })).status, 201);
    assert.deepEqual([(await endpointsOf("quillmoor")).length, (await endpointsOf("sundial-row")).length], [0, 1]);
  });

  test("an operator has to say for which vendor", async () => {
    const { detail } = await assertProblem(await marketplace.as("operator", path, { body: wanted }), 403, "forbidden");
    assert.match(String(detail), /X-Vendor-Slug/);
  });

  test("422 for a vendor that the marketplace doesn't know, whoever names it", async () => {
    const headers = { "x-vendor-slug": "elsewhere-software" };
    const byOperator = await marketplace.as("operator", path, { body: wanted, headers });
    await assertProblem(byOperator, 422, "unknown-vendor");
    const claims = { vendor: "elsewhere-software", roles: ["vendor-developer"] };
    const token = await signedToken(marketplace.callers, claims);
    await assertProblem(await ask(marketplace.url, path, token, { body: wanted }), 422, "unknown-vendor");
  });
});
