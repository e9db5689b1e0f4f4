import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import type {
  AppDto,
  AppPage,
  CategoryDto,
  ListedSubscriptionDto,
  ListingCheck,
  OrganisationDto,
  SubscriptionDto,
  SubscriptionEvent,
  SubscriptionPage,
} from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { findInconsistencies } from "@ehr-marketplace/tests/support/subscription-consistency";

const vendor = "northwind-developer";
const sandbox = "northwind-sandbox";

describe("a draft in a sandbox organisation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  let ehr: string;
  const register = (alias: string, vendorSlug: string): Promise<Response> =>
    marketplace.requestAs("operator", `/admin/organisations/${alias}`, {
      method: "PUT",
      body: { displayName: alias, kind: "SANDBOX", vendorSlug },
    });
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    publisher = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), vendor);
    for (const [alias, of] of [
      [sandbox, "northwind-health"],
      ["northwind-second", "northwind-health"],
      ["lumen-sandbox", "lumen-medical"],
    ] as const) {
      assert.equal((await register(alias, of)).status, 201);
    }
    ehr = await signToken(marketplace.callers, { roles: ["ehr-service"], organization: [sandbox] });
  });

  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const install = (slug: string, orgAlias = sandbox, headers = {}, who: Persona = vendor): Promise<Response> =>
    marketplace.requestAs(who, `/developer/apps/${slug}/test-subscriptions`, { body: { orgAlias }, headers });
  const installed = (slug: string, orgAlias = sandbox): Promise<SubscriptionDto> => json(install(slug, orgAlias), 201);
  const asEhr = (path: string, options = {}): Promise<Response> => sendApiRequest(marketplace.url, path, ehr, options);
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const eventsOf = async (id: string): Promise<(SubscriptionEvent & { sandbox: boolean })[]> =>
    (
      await query<{ payload: string; sandbox: boolean }>(
        "select payload, sandbox from events where subscription_id = $1 order by sequence",
        id,
      )
    ).map(({ payload, sandbox: isSandbox }) => ({
      ...(JSON.parse(payload) as SubscriptionEvent),
      sandbox: isSandbox,
    }));
  const create = async (slug: string, changes: object = {}): Promise<void> => {
    await json(marketplace.requestAs(vendor, "/developer/apps", { body: { slug, name: "Quill" } }), 201);
    const usable = {
      category: "DOCUMENTATION",
      extensionPoints: ["note-panel"],
      smartLaunchUrl: "https://quill.example/launch",
      fhirScopes: "openid launch patient/Observation.rs",
    };
    await publisher.edit(slug, { ...usable, ...changes });
  };

  test("is installed as an app of its own, on a free plan, with the draft's scopes agreed to by the developer", async () => {
    await create("quill-first", { configSchema: { type: "object", properties: { z: { type: "string" } } } });
    const response = await install("quill-first");
    const subscription = await json<SubscriptionDto>(response, 201);
    assertShape("SubscriptionDto", subscription);
    assert.equal(response.headers.get("location"), `/api/v1/subscriptions/${subscription.id}`);
    const { appSlug, orgAlias, status, fhirScopes, pendingScopes, pricingPlan } = subscription;
    assert.deepEqual(
      {
        appSlug,
        orgAlias,
        status,
        fhirScopes,
        pendingScopes,
        model: pricingPlan.pricingModel,
        amount: pricingPlan.amount,
      },
      {
        appSlug: "sandbox-quill-first",
        orgAlias: sandbox,
        status: "active",
        fhirScopes: "openid launch patient/Observation.rs",
        pendingScopes: "",
        model: "FREE",
        amount: 0,
      },
    );
    const [listing] = await query<{ app_id: string }>("select app_id from listings where slug = 'quill-first'");
    assert.notEqual(subscription.appId, listing?.app_id);
    const [event, ...others] = await eventsOf(subscription.id);
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(event ?? {}), ["event", "app", "subscription", "timestamp", "sandbox"]);
    assert.equal(event?.event, "subscription.created");
    assert.equal(event?.sandbox, true);
    assertShape("EventApp", event?.app);
    assert.equal(event?.app.slug, "sandbox-quill-first");
    assert.deepEqual(
      await query("select subject, fhir_scopes from scope_agreements where subscription_id = $1", subscription.id),
      [{ subject: vendor, fhir_scopes: fhirScopes }],
    );
    const icon = await fetch((event?.app.iconUrl ?? "").replace(/^https?:\/\/[^/]+/, marketplace.url));
    assert.equal(icon.status, 200);
    assert.equal(icon.headers.get("content-type"), "image/png");
    assert.match(icon.headers.get("cache-control") ?? "", /max-age=3600/);
    const known = { headers: { "if-none-match": icon.headers.get("etag") ?? "" } };
    assert.equal((await fetch(`${marketplace.url}/media/sandbox-icon.png`, known)).status, 304);
  });

  test("is listed for its vendor and for its EHR, and cancelled as usual", async () => {
    await create("quill-listed");
    const { id } = await installed("quill-listed");
    const page = await json<SubscriptionPage>(
      marketplace.requestAs(vendor, "/developer/subscriptions?appSlug=sandbox-quill-listed"),
    );
    assert.deepEqual(
      page.items.map((each) => each.id),
      [id],
    );
    const listed = await json<ListedSubscriptionDto[]>(asEhr(`/subscriptions?orgAlias=${sandbox}&expand=app`));
    assert.equal(listed.find((each) => each.id === id)?.app?.slug, "sandbox-quill-listed");
    const admin = await signToken(marketplace.callers, { organization: { [sandbox]: { roles: ["org-admin"] } } });
    const cancel = await sendApiRequest(marketplace.url, `/subscriptions/${id}/cancel`, admin, { method: "POST" });
    assert.equal((await json<SubscriptionDto>(cancel)).status, "cancelled");
    assert.deepEqual(
      (await eventsOf(id)).map(({ event, sandbox: isSandbox }) => [event, isSandbox]),
      [
        ["subscription.created", true],
        ["subscription.cancelled", true],
      ],
    );
    assert.notEqual((await installed("quill-listed")).id, id);
  });

  test("installed again unchanged it stays as it is, and edited every organisation that has it gets the new one", async () => {
    await create("quill-again");
    const first = await installed("quill-again");
    const second = await installed("quill-again", "northwind-second");
    assert.equal(second.appId, first.appId);
    assert.deepEqual(await json(install("quill-again")), first);
    assert.equal((await eventsOf(first.id)).length, 1);

    await publisher.edit("quill-again", {
      smartLaunchUrl: "https://quill.example/launch-2",
      fhirScopes: "openid launch patient/Observation.rs patient/Condition.rs",
    });
    const again = await json<SubscriptionDto>(install("quill-again"));
    assert.equal(again.id, first.id);
    assert.equal(again.fhirScopes, "openid launch patient/Observation.rs patient/Condition.rs");
    assert.equal(again.pendingScopes, "");
    for (const id of [first.id, second.id]) {
      const [, updated, ...others] = await eventsOf(id);
      assert.deepEqual(others, []);
      assert.equal(updated?.event, "subscription.updated");
      assert.equal(updated?.sandbox, true);
      assert.equal(updated?.app.smartLaunchUrl, "https://quill.example/launch-2");
      assert.equal(updated?.app.fhirScopes, again.fhirScopes);
    }
    await publisher.edit("quill-again", { supportUrl: "https://quill.example/help" });
    await json(install("quill-again"));
    assert.equal((await eventsOf(first.id)).length, 2, "what isn't installed causes no event");
    assert.deepEqual(await findInconsistencies(marketplace.database.ownerUrl), []);
  });

  test("two concurrent installations make one subscription and one event", async () => {
    await create("quill-twice");
    const responses = await Promise.all([install("quill-twice"), install("quill-twice"), install("quill-twice")]);
    const statuses = responses.map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((one, other) => one - other),
      [200, 200, 201],
    );
    const bodies = (await Promise.all(responses.map((each) => each.json()))) as SubscriptionDto[];
    assert.equal(new Set(bodies.map(({ id }) => id)).size, 1);
    assert.equal((await eventsOf(bodies[0]?.id ?? "")).length, 1);
    assert.equal((await query("select from apps where slug = 'sandbox-quill-twice'")).length, 1);
  });

  test("with an idempotency key, the same request gets the same response", async () => {
    await create("quill-key");
    const headers = { "idempotency-key": "a-key" };
    const first = await json<SubscriptionDto>(install("quill-key", sandbox, headers), 201);
    assert.deepEqual(await json(install("quill-key", sandbox, headers), 201), first);
    await assertProblem(await install("quill-key", "northwind-second", headers), 422, "idempotency-key-reused");
  });

  test("with errors in what an installation uses, it isn't installed, and other errors don't matter", async () => {
    await create("quill-errors", { category: "NONE", extensionPoints: ["nowhere"], termsUrl: "no URL" });
    const problem = await assertProblem(await install("quill-errors"), 422, "draft-has-errors");
    assert.deepEqual(
      (problem["errors"] as { pointer: string; code: string }[]).map(({ pointer, code }) => [pointer, code]),
      [
        ["/category", "category-unknown"],
        ["/extensionPoints/0", "extension-point-unknown"],
      ],
    );
    assert.deepEqual(await query("select from apps where slug = 'sandbox-quill-errors'"), []);
    await publisher.edit("quill-errors", { category: "DOCUMENTATION", extensionPoints: [], summary: null });
    await installed("quill-errors");
  });

  test("with more errors than are listed, it isn't installed", async () => {
    const letter = (nth: number): string => String.fromCharCode(97 + nth);
    const scopes = Array.from(
      { length: 600 },
      (_, nth) => `patient/R${letter(Math.floor(nth / 26))}${letter(nth % 26)}.rs`,
    );
    const fhirScopes = scopes.join(" ");
    await create("quill-many", { fhirScopes, configSchema: { type: "array" } });
    await assertProblem(await install("quill-many"), 422, "draft-has-errors");
  });

  test("isn't installed in an organisation that isn't a sandbox of the vendor, whether or not it exists", async () => {
    await create("quill-elsewhere");
    const details = await Promise.all(
      ["lumen-sandbox", "riverside-clinic", "no-such-clinic"].map(async (alias) => {
        const problem = await assertProblem(await install("quill-elsewhere", alias), 403, "forbidden");
        return String(problem["detail"]).replace(alias, "");
      }),
    );
    assert.equal(new Set(details).size, 1);
    assert.equal((await install("quill-elsewhere", "lumen-sandbox", {}, "lumen-developer")).status, 404);
    assert.deepEqual(await query("select from apps where slug = 'sandbox-quill-elsewhere'"), []);
  });

  test("is installed at most 120 times a minute by a vendor, whatever the result", async () => {
    const again = (): Promise<Response> => install("quill-elsewhere", "lumen-sandbox", {}, "lumen-developer");
    const responses = await Promise.all(Array.from({ length: 130 }, again));
    const refused = responses.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 10 && refused.length <= 20, String(refused.length));
    assert.equal((await install("quill-elsewhere", "no-such-clinic")).status, 403, "other vendors go on");
  });

  test("isn't installed where it is paused, or cancelled out of a pause by an operator", async () => {
    await create("quill-paused");
    const { id } = await installed("quill-paused");
    const operate = (action: string, body?: object): Promise<Response> =>
      marketplace.requestAs("operator", `/subscriptions/${id}/${action}`, { method: "POST", body });
    await json(operate("pause", { reason: "OPERATOR_HOLD" }));
    await assertProblem(await install("quill-paused"), 409, "sandbox-subscription-paused");
    await json(operate("cancel"));
    await assertProblem(await install("quill-paused"), 409, "subscription-blocked");
    await json(operate("lift-block"));
    await installed("quill-paused");
  });

  test("is taken out of an organisation by its vendor, once however often it asks, and can be installed there again", async () => {
    await create("quill-ended");
    const { id } = await installed("quill-ended");
    await installed("quill-ended", "northwind-second");
    const end = (slug: string, orgAlias = sandbox, who: Persona = vendor): Promise<Response> =>
      marketplace.requestAs(who, `/developer/apps/${slug}/test-subscriptions/${orgAlias}`, { method: "DELETE" });
    const ended = await Promise.all([end("quill-ended"), end("quill-ended")]);
    ended.push(await end("quill-ended"));
    for (const response of ended) {
      const record = await json<SubscriptionDto>(response);
      assertShape("SubscriptionDto", record);
      assert.deepEqual([record.id, record.status], [id, "cancelled"]);
    }
    assert.deepEqual(
      (await eventsOf(id)).map(({ event }) => event),
      ["subscription.created", "subscription.cancelled"],
    );
    const entries = await query(
      "select actor_role, on_behalf_of from audit_entries where action = 'subscription.cancel' and target_id = $1",
      id,
    );
    assert.deepEqual(entries, [{ actor_role: "vendor-developer", on_behalf_of: sandbox }]);
    const elsewhere = await json<SubscriptionPage>(
      marketplace.requestAs(vendor, "/developer/subscriptions?appSlug=sandbox-quill-ended&status=active"),
    );
    assert.deepEqual(
      elsewhere.items.map(({ orgAlias }) => orgAlias),
      ["northwind-second"],
    );
    assert.notEqual((await installed("quill-ended")).id, id);

    await create("quill-never");
    await assertProblem(await end("quill-never"), 404, "sandbox-installation-not-found");
    await assertProblem(await end("no-such-draft"), 404, "listing-not-found");
    await assertProblem(await end("quill-ended", sandbox, "lumen-developer"), 404, "listing-not-found");
    for (const alias of ["riverside-clinic", "lumen-sandbox", "no-such-clinic"]) {
      await assertProblem(await end("quill-ended", alias), 403, "forbidden");
    }
  });

  test("changes at most 30 times an hour, and nothing of a refused installation stays", async () => {
    await create("quill-often");
    const { id } = await installed("quill-often");
    for (let nth = 2; nth <= 30; nth += 1) {
      await publisher.edit("quill-often", { summary: `Version ${nth}` });
      await json(install("quill-often"));
    }
    await publisher.edit("quill-often", { summary: "Once more" });
    await assertProblem(await install("quill-often"), 429, "subscription-changed-too-often");
    assert.equal((await eventsOf(id)).length, 30);
    assert.deepEqual(await query("select summary from apps where slug = 'sandbox-quill-often'"), [
      { summary: "Version 30" },
    ]);
  });

  test("an organisation that has reached the limit prevents no installation elsewhere, and catches up with a later one", async () => {
    await create("quill-busy");
    const busy = await installed("quill-busy");
    for (let nth = 2; nth <= 30; nth += 1) {
      await publisher.edit("quill-busy", { summary: `Version ${nth}` });
      await json(install("quill-busy"));
    }
    const revisions = async (): Promise<(number | null)[]> =>
      (
        await query<{ behind: number | null }>(
          `select apps.sandbox_revision - subscriptions.sandbox_revision as behind
           from subscriptions join apps on apps.id = app_id join organisations on organisations.id = organisation_id
           where apps.slug = 'sandbox-quill-busy' order by alias = $1 desc`,
          sandbox,
        )
      ).map(({ behind }) => behind);
    const second = (status = 200): Promise<SubscriptionDto> => json(install("quill-busy", "northwind-second"), status);

    await publisher.edit("quill-busy", { fhirScopes: "openid launch" });
    assert.equal((await second(201)).fhirScopes, "openid launch");
    assert.deepEqual(await revisions(), [1, 0], "a new installation");
    await publisher.edit("quill-busy", { summary: "Once more" });
    const other = await second();
    assert.deepEqual(await revisions(), [2, 0], "an update");
    assert.equal((await eventsOf(busy.id)).length, 30);
    assert.equal((await eventsOf(other.id)).length, 2);
    await assertProblem(await install("quill-busy"), 429, "subscription-changed-too-often");

    await query("update events set occurred_at = occurred_at - interval '1 hour' where subscription_id = $1", busy.id);
    await second();
    assert.deepEqual(await revisions(), [0, 0]);
    const events = await eventsOf(busy.id);
    assert.equal(events.length, 31);
    assert.equal(events.at(-1)?.app.fhirScopes, "openid launch");
    assert.equal((await eventsOf(other.id)).length, 2, "unchanged there");
    assert.deepEqual(await findInconsistencies(marketplace.database.ownerUrl), []);
  });

  test("is never in the public catalog, and doesn't change it", async () => {
    const counts = async (): Promise<number[]> =>
      (await json<CategoryDto[]>(marketplace.get("/apps/categories"))).map(({ appCount }) => appCount);
    const countsBefore = await counts();
    await create("quill-hidden", { name: "Xylograph", summary: "Xylograph" });
    await installed("quill-hidden");
    await query("select adopt_apps()");
    await query("select refresh_listings(array(select id from apps))");
    const slug = "sandbox-quill-hidden";
    assert.equal((await marketplace.get(`/apps/${slug}`)).status, 404);
    assert.equal((await marketplace.get(`/apps/${slug}/pricing`)).status, 404);
    const { content } = await json<AppPage>(marketplace.get("/apps?size=100&sort=popularity,desc"));
    assert.ok(content.every((app) => !app.slug.startsWith("sandbox-")));
    assert.deepEqual(await json(marketplace.get("/apps/search?q=xylograph")), []);
    assert.deepEqual(await counts(), countsBefore);
    for (const table of ["app_listings", "app_search", "app_popularity"]) {
      assert.deepEqual(await query(`select from ${table} join apps on id = app_id where sandbox_of is not null`), []);
    }
    assert.deepEqual(await query("select from listings where slug like 'sandbox-%'"), []);
    const admin = {
      appSlug: slug,
      orgAlias: "riverside-clinic",
      pricingPlanId: "0198f3a0-0000-7000-8000-000000000000",
    };
    await assertProblem(
      await marketplace.requestAs("riverside-admin", "/subscriptions", { body: admin }),
      422,
      "unknown-app",
    );
  });

  test("is read by its EHR while a subscription lives, by its vendor and by operators, and by nobody else", async () => {
    const configSchema = { type: "object", properties: { z: { type: "string" }, a: { type: "string" } } };
    await create("quill-read", { configSchema });
    const path = "/sandbox-apps/sandbox-quill-read";
    await assertProblem(await asEhr(path), 404, "sandbox-app-not-found");
    const { id } = await installed("quill-read");
    const response = await asEhr(path);
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    const app = await json<AppDto>(response);
    assertShape("AppDto", app);
    assert.equal(JSON.stringify(app.configSchema), JSON.stringify(configSchema));
    assert.equal(app.slug, "sandbox-quill-read");
    const other = await signToken(marketplace.callers, { roles: ["ehr-service"], organization: ["northwind-second"] });
    const statuses: [string | undefined, number][] = [
      [marketplace.callers.token("operator"), 200],
      [marketplace.callers.token(vendor), 200],
      [marketplace.callers.token("lumen-developer"), 404],
      [other, 404],
      [undefined, 401],
    ];
    for (const [token, status] of statuses) {
      assert.equal((await sendApiRequest(marketplace.url, path, token)).status, status);
    }
    assert.equal((await asEhr("/sandbox-apps/northwind-scribe")).status, 404);
    await json(marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" }));
    assert.equal((await asEhr(path)).status, 404);
  });

  test("launched there, it loses the warning that it wasn't, whoever reads the check", async () => {
    await create("quill-launched");
    const { id } = await installed("quill-launched");
    const codes = async (): Promise<string[]> =>
      (await json<ListingCheck>(marketplace.requestAs(vendor, "/developer/apps/quill-launched/check"))).problems.map(
        ({ code }) => code,
      );
    assert.ok((await codes()).includes("not-launched-in-sandbox"));
    const report = (): Promise<Response> => asEhr(`/subscriptions/${id}/sandbox-launches`, { method: "POST" });
    assert.equal((await report()).status, 204);
    assert.ok(!(await codes()).includes("not-launched-in-sandbox"));
    const launches = () =>
      query<{ at: Date; entries: number }>(
        `select sandbox_launched_at as at, (select count(*)::integer from audit_entries
           where action = 'listing.sandbox-launch' and target_id = 'quill-launched') as entries
         from listings where slug = 'quill-launched'`,
      );
    const first = await launches();
    assert.equal((await report()).status, 204);
    assert.deepEqual(await launches(), first, "within an hour, nothing is written");
    await query("update listings set sandbox_launched_at = now() - interval '2 hours' where slug = 'quill-launched'");
    assert.equal((await report()).status, 204);
    assert.equal((await launches())[0]?.entries, 2);
  });

  test("only the launch of an own sandbox subscription is recorded", async () => {
    const [plan] = await marketplace.plans("northwind-scribe");
    const body = { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId: plan?.id };
    const live = await json<SubscriptionDto>(marketplace.requestAs("operator", "/subscriptions", { body }), 201);
    const launched = (id: string): string => `/subscriptions/${id}/sandbox-launches`;
    const served = await marketplace.requestAs("ehr-service", launched(live.id), { method: "POST" });
    await assertProblem(served, 404, "subscription-not-found");
    await create("quill-foreign");
    const { id } = await installed("quill-foreign");
    const other = await signToken(marketplace.callers, { roles: ["ehr-service"], organization: ["northwind-second"] });
    const foreign = await sendApiRequest(marketplace.url, launched(id), other, { method: "POST" });
    await assertProblem(foreign, 404, "subscription-not-found");
  });

  test("a vendor has at most 20 drafts installed, also if many are installed at once, until it ends an installation", async () => {
    // A vendor that has used nothing of its 120 installations a minute.
    assert.equal((await register("quillmoor-sandbox", "quillmoor")).status, 201);
    const named = { "x-vendor-slug": "quillmoor" };
    const ofQuillmoor = (
      path: string,
      options: { method?: string; body?: object; headers?: Record<string, string> } = {},
    ): Promise<Response> =>
      marketplace.requestAs("operator", `/developer/apps${path}`, {
        ...options,
        headers: { ...named, ...options.headers },
      });
    const slugs = Array.from({ length: 22 }, (_, nth) => `beam-${nth}`);
    for (const slug of slugs) {
      await json(ofQuillmoor("", { body: { slug, name: "Beam" } }), 201);
      const headers = { "if-match": '"1"' };
      await json(ofQuillmoor(`/${slug}`, { method: "PATCH", body: { category: "DOCUMENTATION" }, headers }));
    }
    const installOne = (slug: string): Promise<Response> => install(slug, "quillmoor-sandbox", named, "operator");
    for (const slug of slugs.slice(0, 18)) await json(installOne(slug), 201);
    const last = await Promise.all(slugs.slice(18).map(installOne));
    assert.equal(last.filter(({ status }) => status === 201).length, 2);
    for (const response of last) {
      if (response.status === 201) continue;
      const { detail } = await assertProblem(response, 409, "too-many-sandbox-drafts");
      assert.match(detail as string, /has 20 drafts in sandbox organisations; 20 are allowed\. End/);
    }
    assert.equal((await installOne("beam-0")).status, 200, "what is installed can be installed again");
    await json(ofQuillmoor("/beam-0/test-subscriptions/quillmoor-sandbox", { method: "DELETE" }));
    const refused = slugs[18 + last.findIndex(({ status }) => status === 409)] ?? "";
    assert.equal((await installOne(refused)).status, 201);
  });

  test("a sandbox organisation subscribes to no published app", async () => {
    const [plan] = await marketplace.plans("northwind-scribe");
    const body = { appSlug: "northwind-scribe", orgAlias: sandbox, pricingPlanId: plan?.id };
    const response = await marketplace.requestAs("operator", "/subscriptions", { body });
    await assertProblem(response, 422, "sandbox-organisation");
  });

  test("a listing's slug can't be a sandbox app's", async () => {
    for (const slug of ["sandbox-quill", "sandbox-a"]) {
      const body = { slug, name: "Quill" };
      await assertProblem(await marketplace.requestAs(vendor, "/developer/apps", { body }), 400, "invalid-request");
    }
    await create("sandbox");
  });

  test("a slug with more than 56 characters is shortened, with a part of its hash: no sandbox app's has more than 64", async () => {
    const hashOf = (slug: string): string => createHash("sha256").update(slug).digest("hex").slice(0, 12);
    const start = "q".repeat(42);
    const expected: Record<string, string> = {
      ["q".repeat(56)]: "q".repeat(56),
      ["q".repeat(57)]: `${start}q-${hashOf("q".repeat(57))}`,
      ["q".repeat(64)]: `${start}q-${hashOf("q".repeat(64))}`,
      [`${start}-${"r".repeat(21)}`]: `${start}-${hashOf(`${start}-${"r".repeat(21)}`)}`,
    };
    for (const [slug, shortened] of Object.entries(expected)) {
      await create(slug);
      const { appSlug, id } = await installed(slug);
      assert.equal(appSlug, `sandbox-${shortened}`);
      assert.ok(appSlug.length <= 64);
      assert.equal((await json<SubscriptionDto>(install(slug))).id, id, "installed again, it is the same app");
      assert.equal((await json<AppDto>(asEhr(`/sandbox-apps/${appSlug}`))).slug, appSlug);
    }
  });
});

describe("the service's login can't mix live and sandbox", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const request = async (who: Persona, path: string, method: string, body: object, headers = {}): Promise<void> => {
      const response = await marketplace.requestAs(who, path, { method, body, headers });
      assert.ok(response.ok, await response.clone().text());
    };
    for (const [alias, vendorSlug] of [
      [sandbox, "northwind-health"],
      ["lumen-sandbox", "lumen-medical"],
    ]) {
      const body = { displayName: "Sandbox", kind: "SANDBOX", vendorSlug };
      await request("operator", `/admin/organisations/${alias}`, "PUT", body);
    }
    await request(vendor, "/developer/apps", "POST", { slug: "quill", name: "Quill" });
    await request(vendor, "/developer/apps/quill", "PATCH", { category: "DOCUMENTATION" }, { "if-match": '"1"' });
    await request(vendor, "/developer/apps/quill/test-subscriptions", "POST", { orgAlias: sandbox });
  });
  const asService = (statement: string): Promise<unknown> =>
    withClient(marketplace.database.serviceUrl, (client) => client.query(statement));
  const subscribe = (alias: string, slug: string, revision: string): string => `
    insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, fhir_scopes, sandbox_revision, created_at, updated_at, revision)
    select gen_random_uuid(), organisations.id, apps.id, (select id from pricing_plans where app_id = apps.id limit 1), 'active', '',
      ${revision}, now(), now(), 1
    from organisations, apps where alias = '${alias}' and slug = '${slug}'`;
  const listing = "(select app_id from listings where slug = 'quill')";
  const call = (alias: string): string => `select install_draft(${listing},
    (select id from organisations where alias = '${alias}'), now(), 'https://a.example/i.png', gen_random_uuid(), gen_random_uuid())`;

  const refused: [string, string, RegExp][] = [
    ["a live organisation and a sandbox app", subscribe("riverside-clinic", "sandbox-quill", "1"), /sandbox/],
    ["a sandbox organisation and a live app", subscribe(sandbox, "northwind-scribe", "null"), /sandbox/],
    ["another vendor's sandbox and a sandbox app", subscribe("lumen-sandbox", "sandbox-quill", "1"), /sandbox/],
    ["a live subscription and a sandbox revision", subscribe("riverside-clinic", "northwind-scribe", "1"), /sandbox/],
    ["by installing in a live organisation", call("riverside-clinic"), /no sandbox of the vendor/],
    ["by installing in another vendor's sandbox", call("lumen-sandbox"), /no sandbox of the vendor/],
    ["by installing in no organisation", call("no-such-clinic"), /no sandbox of the vendor/],
    [
      "by changing an organisation's kind",
      "update organisations set kind = 'LIVE', vendor_id = null",
      /permission denied/,
    ],
    ["by changing a sandbox app", "update apps set sandbox_of = null", /permission denied/],
    [
      "by publishing a sandbox app",
      "update apps set status = 'published' where sandbox_of is not null",
      /permission denied/,
    ],
    ["by featuring a sandbox app", "update apps set featured = true where sandbox_of is not null", /never_published/],
    ["by unmarking an event", "update events set sandbox = false", /permission denied/],
  ];
  for (const [what, statement, reason] of refused) {
    test(what, () => assert.rejects(asService(statement), reason));
  }

  test("and not even the owner publishes a sandbox app, or takes its mark", async () => {
    const asOwner = (statement: string): Promise<unknown> =>
      withClient(marketplace.database.ownerUrl, (client) => client.query(statement));
    for (const statement of [
      "update apps set status = 'published' where sandbox_of is not null",
      "update apps set sandbox_of = null where sandbox_of is not null",
      "update apps set slug = 'quill-live' where sandbox_of is not null",
      "update apps set slug = 'sandbox-scribe' where slug = 'northwind-scribe'",
      `update subscriptions set updated_at = now() + interval '1 hour',
         organisation_id = (select id from organisations where alias = 'riverside-clinic')
       where sandbox_revision is not null`,
    ]) {
      await assert.rejects(asOwner(statement), /check constraint|sandbox/);
    }
  });
});

describe("the registration of a sandbox organisation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const put = (alias: string, body: object): Promise<Response> =>
    marketplace.requestAs("operator", `/admin/organisations/${alias}`, {
      method: "PUT",
      body: { displayName: "Sandbox", ...body },
    });
  const ofNorthwind = { kind: "SANDBOX", vendorSlug: "northwind-health" };

  test("has a vendor, and neither changes", async () => {
    const created = await put(sandbox, ofNorthwind);
    assert.equal(created.status, 201);
    const organisation = (await created.json()) as OrganisationDto;
    assertShape("OrganisationDto", organisation);
    assert.deepEqual([organisation.kind, organisation.vendorSlug], ["SANDBOX", "northwind-health"]);
    for (const body of [{}, ofNorthwind, { kind: "SANDBOX" }, { vendorSlug: "northwind-health" }]) {
      const again = (await (await put(sandbox, { displayName: "Renamed", ...body })).json()) as OrganisationDto;
      assert.deepEqual([again.kind, again.vendorSlug], ["SANDBOX", "northwind-health"]);
    }
    for (const body of [
      { kind: "LIVE" },
      { vendorSlug: "lumen-medical" },
      { ...ofNorthwind, vendorSlug: "lumen-medical" },
    ]) {
      await assertProblem(await put(sandbox, body), 409, "organisation-kind-fixed");
    }
    await assertProblem(await put("riverside-clinic", ofNorthwind), 409, "organisation-kind-fixed");
    const read = await marketplace.requestAs("operator", "/admin/organisations/riverside-clinic");
    const live = (await read.json()) as OrganisationDto;
    assert.deepEqual([live.kind, live.vendorSlug], ["LIVE", null]);
  });

  test("needs both kind and vendor, and a vendor that is registered", async () => {
    await assertProblem(await put("incomplete", { kind: "SANDBOX" }), 400, "invalid-request");
    await assertProblem(await put("incomplete", { vendorSlug: "northwind-health" }), 400, "invalid-request");
    const unknown = { kind: "SANDBOX", vendorSlug: "no-such-vendor" };
    await assertProblem(await put("incomplete", unknown), 422, "unknown-vendor");
    assert.equal((await marketplace.requestAs("operator", "/admin/organisations/incomplete")).status, 404);
  });

  test("is one of at most 20 of a vendor, also if many are registered at once", async () => {
    const ofLumen = { kind: "SANDBOX", vendorSlug: "lumen-medical" };
    const responses = await Promise.all(Array.from({ length: 24 }, (_, nth) => put(`lumen-${nth}`, ofLumen)));
    assert.equal(responses.filter(({ status }) => status === 201).length, 20);
    const refused = responses.filter(({ status }) => status !== 201);
    for (const response of refused) await assertProblem(response, 409, "too-many-sandbox-organisations");
    const known = responses.findIndex(({ status }) => status === 201);
    assert.equal((await put(`lumen-${known}`, ofLumen)).status, 200);
  });

  test("isn't an import's: a line with a kind is refused, and one without leaves the kind alone", async () => {
    const send = async (line: object): Promise<string> => {
      const response = await marketplace.requestAs("operator", "/admin/organisations/import", {
        body: Buffer.from(JSON.stringify(line)),
        headers: { "content-type": "application/x-ndjson" },
      });
      return ((await response.json()) as { status: string }).status;
    };
    await put("imported-over", ofNorthwind);
    assert.equal(await send({ alias: "imported-sandbox", displayName: "Sandbox", ...ofNorthwind }), "refused");
    assert.equal(await send({ alias: "imported-over", displayName: "Imported" }), "updated");
    const read = await marketplace.requestAs("operator", "/admin/organisations/imported-over");
    const { displayName, kind, vendorSlug } = (await read.json()) as OrganisationDto;
    assert.deepEqual([displayName, kind, vendorSlug], ["Imported", "SANDBOX", "northwind-health"]);
  });
});
