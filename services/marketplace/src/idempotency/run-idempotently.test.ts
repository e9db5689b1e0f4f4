import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, eventually, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

describe("a request with an Idempotency-Key", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let database: ServiceDatabase;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    database = marketplace.database;
  });
  type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const bodyFor = async (appSlug: string, orgAlias = "riverside-clinic"): Promise<Record<string, unknown>> => {
    const [plan] = await marketplace.plans(appSlug);
    return { appSlug, orgAlias, pricingPlanId: plan?.id };
  };
  const post = (who: Persona, path: string, key: string, body?: unknown): Promise<Response> =>
    marketplace.requestAs(who, path, {
      method: "POST",
      headers: { "idempotency-key": key },
      ...(body === undefined ? {} : { body }),
    });
  const subscribe = async (who: Persona, key: string, slug: string): Promise<Response> =>
    post(who, "/subscriptions", key, await bodyFor(slug));
  const subscriptionsTo = async (slug: string): Promise<number> =>
    (await rows("select from subscriptions join apps on apps.id = app_id where slug = $1", slug)).length;
  const subscriptionId = async (slug: string): Promise<string> => {
    const response = await marketplace.requestAs("riverside-admin", "/subscriptions", { body: await bodyFor(slug) });
    assert.equal(response.status, 201);
    return ((await response.json()) as { id: string }).id;
  };

  test("gets the same 201 with the same bytes, also after the subscription has changed", async () => {
    const first = await subscribe("riverside-admin", "again", "lumen-schedule");
    assert.equal(first.status, 201);
    const text = await first.text();
    const { id } = JSON.parse(text) as { id: string };
    await marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    const second = await subscribe("riverside-admin", "again", "lumen-schedule");
    assert.deepEqual([second.status, await second.text()], [201, text]);
    assert.equal(second.headers.get("location"), first.headers.get("location"));
    assert.equal(second.headers.get("content-type"), first.headers.get("content-type"));
    assert.equal(await subscriptionsTo("lumen-schedule"), 1);
    const left = await rows("select event from events where subscription_id = $1 order by sequence", id);
    assert.deepEqual(left, [{ event: "subscription.created" }, { event: "subscription.cancelled" }]);
    assert.equal((await rows("select from audit_entries where target_id = $1", id)).length, 2);
  });

  test("returns 422 when the key was used with another body, and does nothing", async () => {
    assert.equal((await subscribe("riverside-admin", "reused", "inbox-heron")).status, 201);
    const other = await subscribe("riverside-admin", "reused", "lab-lantern");
    await assertProblem(other, 422, "idempotency-key-reused");
    const more = { ...(await bodyFor("inbox-heron")), quantity: 2 };
    await assertProblem(await post("riverside-admin", "/subscriptions", "reused", more), 422, "idempotency-key-reused");
    assert.equal(await subscriptionsTo("lab-lantern"), 0);
    assert.equal((await subscribe("riverside-admin", "reused", "inbox-heron")).status, 201);
  });

  test("is a different request if the caller, the path or the case of the key differs", async () => {
    const id = await subscriptionId("quiet-room");
    assert.equal((await post("riverside-admin", `/subscriptions/${id}/cancel`, "shared")).status, 200);
    assert.equal((await subscribe("riverside-admin", "shared", "cuffline")).status, 201);
    await assertProblem(await subscribe("two-practices", "shared", "cuffline"), 409, "already-subscribed");
    await assertProblem(await subscribe("operator", "shared", "cuffline"), 409, "already-subscribed");
    await assertProblem(await subscribe("riverside-admin", "Shared", "cuffline"), 409, "already-subscribed");
    const resume = await post("riverside-admin", `/subscriptions/${id}/resume`, "shared");
    await assertProblem(resume, 409, "subscription-cancelled");
  });

  test("can use the key again after it was refused", async () => {
    const unknown = { ...(await bodyFor("vitals-dock")), appSlug: "no-such-app" };
    await assertProblem(await post("riverside-admin", "/subscriptions", "free", unknown), 422, "unknown-app");
    assert.equal((await subscribe("riverside-admin", "free", "vitals-dock")).status, 201);
    await assertProblem(await subscribe("riverside-admin", "conflict", "vitals-dock"), 409, "already-subscribed");
    assert.equal((await subscribe("riverside-admin", "conflict", "loose-ends")).status, 201);
    const invalid = { ...(await bodyFor("renal-rudder")), quantity: 0 };
    await assertProblem(await post("riverside-admin", "/subscriptions", "invalid", invalid), 400, "invalid-request");
    assert.equal((await subscribe("riverside-admin", "invalid", "renal-rudder")).status, 201);
  });

  test("is stored for 24 hours", async () => {
    assert.equal((await subscribe("hilltop-admin", "aged", "scanshelf")).status, 403);
    const first = await subscribe("riverside-admin", "aged", "scanshelf");
    const age = (interval: string): Promise<unknown> =>
      rows(
        `update idempotent_responses set created_at = now() - $1::interval where response->>'appSlug' = 'scanshelf'`,
        interval,
      );
    await age("23:59:00");
    const repeated = await subscribe("riverside-admin", "aged", "scanshelf");
    assert.deepEqual([repeated.status, await repeated.text()], [201, await first.text()]);
    await age("24:00:01");
    await assertProblem(await subscribe("riverside-admin", "aged", "scanshelf"), 409, "already-subscribed");
    const other = await subscribe("riverside-admin", "aged", "click-census");
    assert.equal(other.status, 201);
    const again = await subscribe("riverside-admin", "aged", "click-census");
    assert.deepEqual([again.status, await again.text()], [201, await other.text()]);
  });

  test("waits for a duplicate request, and then gets the same response", async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => subscribe("riverside-admin", "duplicates", "fax-warbler")),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
    const texts = await Promise.all(responses.map((response) => response.text()));
    assert.equal(new Set(texts).size, 1);
    assert.equal(await subscriptionsTo("fax-warbler"), 1);
  });

  test("does the work itself if the duplicate request's process dies", async () => {
    const body = await bodyFor("stickleback-labels");
    const [died, took] = await withClient(database.ownerUrl, async (client) => {
      const waiting = async (): Promise<{ pid: number }[]> =>
        rows(`select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' order by query_start`);
      // An uncommitted row in the unique index: the first request waits for it, and the duplicate request waits for the first.
      await client.query("begin");
      await client.query(
        `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
         select gen_random_uuid(), organisations.id, app_id, pricing_plans.id, 'active', now(), now(), 1
         from organisations, pricing_plans where alias = 'riverside-clinic' and pricing_plans.id = $1`,
        [body["pricingPlanId"]],
      );
      const first = post("riverside-admin", "/subscriptions", "halfway", body);
      await eventually("the first waits", 30_000, async () => (await waiting()).length === 1);
      const duplicate = post("riverside-admin", "/subscriptions", "halfway", body);
      await eventually("the duplicate request waits", 30_000, async () => (await waiting()).length === 2);
      await client.query("select pg_terminate_backend($1)", [(await waiting())[0]?.pid]);
      await first;
      await client.query("rollback");
      return Promise.all([first, duplicate]);
    });
    await assertProblem(died, 503, "unavailable");
    assert.equal(took.status, 201);
    assert.equal(await subscriptionsTo("stickleback-labels"), 1);
  });

  for (const [what, key] of [
    ["empty", ""],
    ["256 characters long", "k".repeat(256)],
  ] as const) {
    test(`returns 400 for a key that is ${what}`, async () => {
      const problem = await assertProblem(await subscribe("riverside-admin", key, "molar-map"), 400, "invalid-request");
      assert.deepEqual(
        (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
        ["/headers/idempotency-key"],
      );
      assert.equal(await subscriptionsTo("molar-map"), 0);
    });
  }

  test("accepts a key of 255 characters of any kind that a header allows", async () => {
    const key = `' or 1=1 -- \u00e9"\\${"k".repeat(255)}`.slice(0, 255);
    assert.equal((await subscribe("riverside-admin", key, "iris-ledger")).status, 201);
    assert.equal((await subscribe("riverside-admin", key, "iris-ledger")).status, 201);
    await assertProblem(
      await subscribe("riverside-admin", `${key.slice(0, 254)}j`, "iris-ledger"),
      409,
      "already-subscribed",
    );
  });

  test("gets the first response of a change, also after the subscription has changed again", async () => {
    const id = await subscriptionId("marrowgate-viewer");
    const change = async (what: string, key: string, body?: object): Promise<string> => {
      const response = await post("riverside-admin", `/subscriptions/${id}/${what}`, key, body);
      assert.equal(response.status, 200, await response.clone().text());
      return response.text();
    };
    const reason = { reason: "ORG_REQUEST" };
    const paused = await change("pause", "once", reason);
    const resumed = await change("resume", "once");
    assert.equal(await change("pause", "once", reason), paused);
    const other = await post("riverside-admin", `/subscriptions/${id}/pause`, "once", { reason: "SECURITY" });
    assert.equal(other.status, 403);
    const cancelled = await change("cancel", "once");
    assert.equal(await change("pause", "once", reason), paused);
    assert.equal(await change("resume", "once"), resumed);
    assert.equal(await change("cancel", "once"), cancelled);
    assert.equal((await rows("select from events where subscription_id = $1", id)).length, 4);
  });

  test("returns 422 for a change with another body, and changes nothing", async () => {
    const id = await subscriptionId("senal-messages");
    const pause = (reason: string): Promise<Response> =>
      post("operator", `/subscriptions/${id}/pause`, "pause", { reason });
    assert.equal((await pause("SECURITY")).status, 200);
    await post("operator", `/subscriptions/${id}/resume`, "resume");
    await assertProblem(await pause("NON_PAYMENT"), 422, "idempotency-key-reused");
    const found = await marketplace.requestAs("operator", `/subscriptions/${id}`);
    assert.equal(((await found.json()) as { status: string }).status, "active");
  });

  test("gets its first response also when the caller may no longer give this command in the current state", async () => {
    const id = await subscriptionId("path-postcards");
    const resume = (): Promise<Response> => post("riverside-admin", `/subscriptions/${id}/resume`, "resume");
    const first = await (await resume()).text();
    await marketplace.requestAs("billing", `/subscriptions/${id}/pause`, { body: { reason: "NON_PAYMENT" } });
    const repeated = await resume();
    assert.deepEqual([repeated.status, await repeated.text()], [200, first]);
    const another = await post("riverside-admin", `/subscriptions/${id}/resume`, "another");
    await assertProblem(another, 403, "forbidden");
  });

  test("doesn't return the stored response to a caller who has lost the role", async () => {
    const as = (roles: string[], organisation = "riverside-clinic"): Promise<string> =>
      signToken(marketplace.callers, { sub: "leaver", organization: { [organisation]: { roles } } });
    const headers = { "idempotency-key": "leaver" };
    const body = await bodyFor("lapel-credentials");
    const create = async (token: Promise<string>): Promise<Response> =>
      sendApiRequest(marketplace.url, "/subscriptions", await token, { body, headers });
    const created = await create(as(["org-admin"]));
    assert.equal(created.status, 201);
    const { id } = (await created.json()) as { id: string };
    const cancel = async (token: Promise<string>): Promise<Response> =>
      sendApiRequest(marketplace.url, `/subscriptions/${id}/cancel`, await token, { method: "POST", headers });
    assert.equal((await cancel(as(["org-admin"]))).status, 200);
    for (const roles of [["org-member"], []]) {
      await assertProblem(await create(as(roles)), 403, "forbidden");
      await assertProblem(await cancel(as(roles)), 403, "forbidden");
    }
    await assertProblem(await create(as(["org-admin"], "elsewhere")), 403, "forbidden");
    await assertProblem(await cancel(as(["org-admin"], "elsewhere")), 404, "subscription-not-found");
    assert.equal((await create(as(["org-admin"]))).status, 201);
  });

  test("compares bodies also after the encryption keys were rotated", async () => {
    const first = await subscribe("riverside-admin", "rotated", "copay-compass");
    assert.equal(first.status, 201);
    const newKey = `2:${Buffer.alloc(32, 2).toString("base64")}`;
    const rotated = await startMarketplace(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      ENCRYPTION_KEYS: `${newKey},${developmentEncryptionKeys}`,
    });
    const again = async (slug: string): Promise<Response> =>
      sendApiRequest(rotated.url, "/subscriptions", marketplace.callers.token("riverside-admin"), {
        body: await bodyFor(slug),
        headers: { "idempotency-key": "rotated" },
      });
    const repeated = await again("copay-compass");
    assert.deepEqual([repeated.status, await repeated.text()], [201, await first.text()]);
    await assertProblem(await again("lumen-schedule"), 422, "idempotency-key-reused");
  });

  test("stores a digest of its body that can't be computed without the encryption key", async () => {
    const body = await bodyFor("ten-year-heart");
    assert.equal((await post("riverside-admin", "/subscriptions", "guessable", body)).status, 201);
    const [stored] = await rows<{ body_digest: string }>(
      "select body_digest from idempotent_responses where response->>'appSlug' = 'ten-year-heart'",
    );
    assert.ok(stored !== undefined);
    for (const encoding of ["base64url", "hex"] as const) {
      assert.ok(!stored.body_digest.includes(createHash("sha256").update(JSON.stringify(body)).digest(encoding)));
    }
    const keyed = createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency");
    assert.equal(stored.body_digest, keyed.create(JSON.stringify(body)));
  });

  test("stores only digests of key and caller", async () => {
    await subscribe("riverside-admin", "a-telling-key", "consent-ledger");
    const dump = JSON.stringify(await rows("select * from idempotent_responses"));
    assert.ok(dump.includes("consent-ledger"));
    assert.doesNotMatch(dump, /telling|riverside-admin/);
  });
});
