import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type {
  AdminAppDto,
  AppDto,
  FoundAppDto,
  ListingDto,
  PricingPlanDto,
  ReviewDto,
  ReviewPage,
  RevisionDto,
  RevisionPage,
} from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, freePlan, type Publisher } from "@ehr-marketplace/tests/support/publisher";

const vendor = "northwind-developer";

describe("a revision's way into the catalog", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { CATALOG_CACHE_SECONDS: "60" });
    publisher = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), vendor);
  });
  const post = (who: Parameters<Publisher<Persona>["request"]>[0], path: string, body?: object): Promise<Response> =>
    publisher.request(who, path, { method: "POST", ...(body === undefined ? {} : { body }) });
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const review = (id: string): Promise<ReviewDto> => json(publisher.request("operator", `/admin/reviews/${id}`));
  const app = (slug: string): Promise<Response> => marketplace.get(`/apps/${slug}`);
  const shown = async (slug: string): Promise<AppDto> => json(app(slug));
  const pricing = (slug: string): Promise<PricingPlanDto[]> => json(marketplace.get(`/apps/${slug}/pricing`));
  const asOwner = (statement: string, values: unknown[] = []) =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows);

  test("submitted, it waits in the queue, and nothing is public", async () => {
    await publisher.create("quill-waits", { reviewNotes: "Sign in as demo" });
    const id = await publisher.submit("quill-waits");
    const { etag: _, ...listing } = await publisher.read("quill-waits");
    assertShape("ListingDto", listing);
    assert.equal(listing.status, "in-review");
    assert.equal(listing.publishedRevision, null);
    assert.deepEqual(listing.review?.reasons, []);
    assert.equal((await app("quill-waits")).status, 404);
    for (const media of [listing.draft.icon, listing.draft.screenshots?.[0]?.media]) {
      assert.equal((await fetch(`${marketplace.url}/media/${media}`)).status, 404);
    }

    const page = await json<ReviewPage>(publisher.request("operator", "/admin/reviews?limit=1000"));
    assertShape("ReviewPage", page);
    const listed = page.items.find((each) => each.id === id);
    assert.equal(listed?.slug, "quill-waits");
    assert.equal(listed?.vendor, "northwind-health");
    assert.equal(listed?.status, "open");
    const other = await json<ReviewPage>(publisher.request("operator", "/admin/reviews?vendor=lumen-medical"));
    assert.deepEqual(other.items, []);

    const opened = await review(id);
    assertShape("ReviewDto", opened);
    assert.equal(opened.draft.reviewNotes, "Sign in as demo");
    assert.equal(opened.comparedWith, null);
    assert.equal(opened.check.errors, 0);
    assert.ok(
      opened.differences.some(({ pointer, mark }) => pointer.startsWith("/fhirScopes") && mark === "scope-added"),
    );
    const stored = await asOwner(
      "select encrypted_review_notes from revisions where encrypted_review_notes is not null",
    );
    assert.ok(!JSON.stringify(stored).includes("demo"));
  });

  test("with errors, it isn't submitted, and every error is listed with its code", async () => {
    await json(post(vendor, "/developer/apps", { slug: "quill-empty", name: "Quill" }), 201);
    const problem = await assertProblem(
      await post(vendor, "/developer/apps/quill-empty/submit"),
      422,
      "draft-has-errors",
    );
    const codes = new Set((problem["errors"] as { code: string }[]).map(({ code }) => code));
    assert.ok(codes.has("icon-missing") && codes.has("plan-missing"), JSON.stringify(problem));
    assert.equal((await publisher.read("quill-empty")).status, "draft");
  });

  test("approved, it is public in the same moment: the app, its plans, its pictures and the search", async () => {
    const scribe = await shown("northwind-scribe");
    await publisher.create("quill-public", { name: "Zephyrine Quill" });
    const id = await publisher.submit("quill-public");
    const decided = await publisher.approve(id);
    assertShape("ReviewDto", decided);
    assert.equal(decided.status, "approved");
    const now = await shown("quill-public");
    assertShape("AppDto", now);
    assert.equal(now.name, "Zephyrine Quill");
    assert.deepEqual(now.scopePurposes, { "patient/Observation.rs": "Shows the last results beside the note" });
    assert.deepEqual(now.screenshotTexts, ["A note beside the chart"]);
    assert.equal(now.audience, "CLINICIAN");
    assert.equal(now.baaRequired, false);
    for (const url of [now.iconUrl, ...now.screenshots]) {
      assert.equal((await fetch(url.replace(/^https?:\/\/[^/]+/, marketplace.url))).status, 200, url);
    }
    const [plan, ...others] = await pricing("quill-public");
    assert.deepEqual([plan?.name, others], ["Free", []]);
    const { draft, publishedRevision, status } = await publisher.read("quill-public");
    assert.deepEqual([publishedRevision, status, draft.plans?.[0]?.id], [1, "published", plan?.id]);
    await eventually("the search finds it", 20_000, async () => {
      const found = await json<FoundAppDto[]>(marketplace.get("/apps/search?q=zephyrine"));
      return found.some(({ slug }) => slug === "quill-public");
    });
    assert.deepEqual(await shown("northwind-scribe"), scribe);
  });

  test("edited while it is reviewed, the draft is the next revision, and what is approved is what was submitted", async () => {
    await publisher.create("quill-edited");
    const id = await publisher.submit("quill-edited");
    await publisher.edit("quill-edited", { name: "Not reviewed", plans: [{ ...freePlan, name: "Other" }] });
    await publisher.approve(id);
    assert.equal((await shown("quill-edited")).name, "Quill");
    const { draft, status } = await publisher.read("quill-edited");
    assert.deepEqual([draft.name, draft.plans?.[0]?.id, status], ["Not reviewed", undefined, "published"]);
  });

  test("a second revision shows what differs, and takes removed plans off sale while their subscribers stay", async () => {
    await publisher.publish("quill-second");
    const [free] = await pricing("quill-second");
    const planId = free?.id ?? "";
    const subscription = await json<{ id: string }>(
      post("riverside-admin", "/subscriptions", {
        orgAlias: "riverside-clinic",
        appSlug: "quill-second",
        pricingPlanId: planId,
      }),
      201,
    );
    const flat = { name: "Flat", pricingModel: "FLAT", currency: "USD", amount: 4_900, interval: "MONTH" };
    await publisher.edit("quill-second", {
      fhirScopes: "openid launch patient/Observation.rs patient/Condition.rs",
      scopePurposes: { "patient/Condition.rs": "Shows the problems" },
      smartLaunchUrl: "https://quill.example/other",
      plans: [flat],
    });
    const id = await publisher.submit("quill-second");
    const opened = await review(id);
    assert.equal(opened.comparedWith, 1);
    const marks = opened.differences.flatMap(({ mark }) => mark ?? []);
    assert.deepEqual(
      [...new Set(marks)].toSorted((a, b) => a.localeCompare(b)),
      ["scope-added", "url-changed"],
    );
    const decided = await publisher.approve(id);
    assert.deepEqual(
      decided.differences.map(({ pointer }) => pointer),
      opened.differences.map(({ pointer }) => pointer),
    );
    assert.deepEqual(
      (await pricing("quill-second")).map(({ name }) => name),
      ["Flat"],
    );
    const kept = await json<{ pricingPlan: { name: string } }>(
      publisher.request("riverside-admin", `/subscriptions/${subscription.id}?expand=app`),
    );
    assert.equal(kept.pricingPlan.name, "Free");
  });

  test("plans are on sale in the vendor's order, and their tiers have all fields", async () => {
    const tiered = {
      name: "Tiered",
      pricingModel: "TIERED" as const,
      currency: "USD",
      interval: "MONTH" as const,
      unitName: "seat",
      tierMode: "GRADUATED" as const,
      tiers: [{ upTo: 10, unitAmount: 900 }, { flatAmount: 5_000 }],
    };
    await publisher.publish("quill-plans", { plans: [freePlan, tiered] });
    const first = await pricing("quill-plans");
    assert.deepEqual(first[1]?.tiers, [
      { upTo: 10, unitAmount: 900, flatAmount: 0 },
      { upTo: null, unitAmount: 0, flatAmount: 5_000 },
    ]);
    const body = { orgAlias: "riverside-clinic", appSlug: "quill-plans", pricingPlanId: first[1]?.id };
    await json(post("riverside-admin", "/subscriptions", body), 201);

    const { draft } = await publisher.read("quill-plans");
    await publisher.edit("quill-plans", { plans: draft.plans?.toReversed() });
    await publisher.approve(await publisher.submit("quill-plans"));
    await eventually("the order is new", 30_000, async () => {
      const now = await pricing("quill-plans");
      return isDeepStrictEqual(now, first.toReversed());
    });
  });

  test("rejected, it goes back with reasons per field, and can be submitted again", async () => {
    await publisher.create("quill-rejected");
    const id = await publisher.submit("quill-rejected");
    const reasons = [
      { pointer: "/description", code: "text-missing", text: "Say what it does" },
      { pointer: "/icon", text: "It is only black; no criterion says so" },
    ];
    for (const [field, refused] of [
      ["code", { pointer: "", code: "unheard-of", text: "x" }],
      ["pointer", { pointer: "/nosuchfield", text: "x" }],
      ["pointer", { pointer: "/", text: "x" }],
      ["text", { pointer: "/plans/0/name", text: " \n" }],
    ] as const) {
      const problem = await assertProblem(
        await post("operator", `/admin/reviews/${id}/reject`, { reasons: [...reasons, refused] }),
        400,
        "invalid-request",
      );
      const [error] = problem["errors"] as { pointer: string }[];
      assert.equal(error?.pointer, `/body/reasons/2/${field}`);
    }
    const rejected = await json<ReviewDto>(post("operator", `/admin/reviews/${id}/reject`, { reasons }));
    assert.deepEqual([rejected.status, rejected.reasons], ["rejected", reasons]);
    const listing = await publisher.read("quill-rejected");
    assert.deepEqual([listing.status, listing.review?.reasons], ["changes-requested", reasons]);
    assert.equal((await app("quill-rejected")).status, 404);
    const again = await publisher.submit("quill-rejected");
    assert.notEqual(again, id);
    assert.equal((await publisher.read("quill-rejected")).status, "in-review");
  });

  test("withdrawn, it can't be approved any more", async () => {
    await publisher.create("quill-withdrawn");
    const id = await publisher.submit("quill-withdrawn");
    await assertProblem(await post(vendor, "/developer/apps/quill-withdrawn/submit"), 409, "review-open");
    assert.equal((await json<ListingDto>(post(vendor, "/developer/apps/quill-withdrawn/withdraw"))).status, "draft");
    const late = await assertProblem(await post("operator", `/admin/reviews/${id}/approve`, {}), 409, "no-open-review");
    assert.match(String(late["detail"]), /^This review of revision 1 was withdrawn at 20\S+Z\.$/);
    const again = await assertProblem(
      await post(vendor, "/developer/apps/quill-withdrawn/withdraw"),
      409,
      "no-open-review",
    );
    assert.match(String(again["detail"]), /^The listing is draft\. The review was decided or withdrawn/);
    assert.equal((await review(id)).status, "withdrawn");
  });

  test("nobody approves what they edited or submitted, and the database refuses it too", async () => {
    const headers = { "x-vendor-slug": "northwind-health" };
    await publisher.create("quill-own");
    const { etag } = await publisher.read("quill-own");
    await json(
      publisher.request("operator", "/developer/apps/quill-own", {
        method: "PATCH",
        body: { summary: "Edited by an operator" },
        headers: { ...headers, "if-match": etag },
      }),
    );
    const id = await publisher.submit("quill-own");
    const own = await assertProblem(await post("operator", `/admin/reviews/${id}/approve`, {}), 403, "own-revision");
    assert.match(String(own["detail"]), /^You submitted revision 1, or edited the draft before the first approval\./);
    const [editor] = await asOwner(
      "select issuer, subject from revision_editors join reviews using (app_id, number) where id = $1 and subject like 'operator%'",
      [id],
    );
    await assert.rejects(
      asOwner("select approve_review($1, $2, $3, now(), 'https://m.example/', '{}', '{}')", [
        id,
        editor?.issuer,
        editor?.subject,
      ]),
      /nobody approves a revision that they edited/,
    );
    assert.equal((await app("quill-own")).status, 404);
  });

  test("the service's role can't approve by other means", async () => {
    await publisher.create("quill-forged");
    const id = await publisher.submit("quill-forged");
    const asService = (statement: string) =>
      withClient(marketplace.database.serviceUrl, (client) => client.query(statement, [id]));
    await assert.rejects(
      asService("update reviews set decision = 'approved', decided_at = now() where id = $1"),
      /an approved revision is the published one/,
    );
    for (const statement of [
      "update listings set published_revision = 1 where app_id = (select app_id from reviews where id = $1)",
      "update revisions set draft = '{}' where app_id = (select app_id from reviews where id = $1)",
      `insert into media (id, vendor_id, app_id, kind, object_key, sha256, content_type, bytes, created_at, published_at)
         select gen_random_uuid(), vendor_id, app_id, kind, 'planted', sha256, content_type, bytes, now(), now() from media
         where app_id = (select app_id from reviews where id = $1)`,
      "update media set published_at = now() where app_id = (select app_id from reviews where id = $1)",
      "delete from revision_editors where app_id = (select app_id from reviews where id = $1)",
      "select publish_plans(app_id, '[]', '{}', now()) from reviews where id = $1",
    ]) {
      await assert.rejects(asService(statement), /permission denied/, statement);
    }
  });

  test("its revisions are listed newest first, for its vendor only", async () => {
    await publisher.publish("quill-history");
    await publisher.edit("quill-history", { version: "1.1.0" });
    await publisher.submit("quill-history");
    const path = "/developer/apps/quill-history/revisions";
    const first = await json<RevisionPage>(publisher.request(vendor, `${path}?limit=1`));
    assertShape("RevisionPage", first);
    assert.deepEqual(
      first.items.map(({ revision, version, status, isPublic }) => [revision, version, status, isPublic]),
      [[2, "1.1.0", "open", false]],
    );
    const second = await json<RevisionPage>(publisher.request(vendor, `${path}?limit=1&after=${first.next}`));
    assert.deepEqual(
      second.items.map(({ revision, status, isPublic }) => [revision, status, isPublic]),
      [[1, "approved", true]],
    );
    assert.equal(second.next, null);
    const revision = await json<RevisionDto>(publisher.request(vendor, `${path}/1`));
    assertShape("RevisionDto", revision);
    assert.equal(revision.draft.version, "1.0.0");
    await assertProblem(await publisher.request(vendor, `${path}/3`), 404, "revision-not-found");
    for (const at of [path, `${path}/1`]) {
      const response = await publisher.request("lumen-developer", at);
      assert.equal(response.status, 404, await response.clone().text());
    }
  });

  test("unpublished and republished by its vendor, who can't make it flicker", async () => {
    await publisher.publish("quill-hidden");
    const at = "/developer/apps/quill-hidden";
    await assertProblem(await post(vendor, `${at}/republish`), 409, "not-unpublished");
    assert.equal((await json<ListingDto>(post(vendor, `${at}/unpublish`))).status, "unpublished");
    await eventually("it is gone", 30_000, async () => (await app("quill-hidden")).status === 404);
    assert.equal((await json<ListingDto>(post(vendor, `${at}/republish`))).status, "published");
    await eventually("it is back", 30_000, async () => (await app("quill-hidden")).status === 200);
    await asOwner("update listings set republished_at = now() + interval '1 hour' where slug = 'quill-hidden'");
    await assertProblem(await post(vendor, `${at}/unpublish`), 429, "unpublished-too-often");
    await asOwner("update listings set republished_at = now() - interval '11 seconds' where slug = 'quill-hidden'");
    assert.equal((await json<ListingDto>(post(vendor, `${at}/unpublish`))).status, "unpublished");
  });

  test("suspended by an operator, it can't be found or subscribed to until it is reinstated", async () => {
    await publisher.publish("quill-suspended");
    const [plan] = await pricing("quill-suspended");
    const at = "/admin/apps/quill-suspended";
    const subscribe = () =>
      post("hilltop-admin", "/subscriptions", {
        orgAlias: "hilltop-family-practice",
        appSlug: "quill-suspended",
        pricingPlanId: plan?.id,
      });
    const paused = await json<{ id: string }>(
      post("riverside-admin", "/subscriptions", {
        orgAlias: "riverside-clinic",
        appSlug: "quill-suspended",
        pricingPlanId: plan?.id,
      }),
      201,
    );
    await json(post("riverside-admin", `/subscriptions/${paused.id}/pause`, { reason: "ORG_REQUEST" }));
    await assertProblem(await post("operator", `${at}/suspend`, { reason: "  " }), 400, "invalid-request");
    const suspended = await json<AdminAppDto>(post("operator", `${at}/suspend`, { reason: "Its page was taken over" }));
    await assertProblem(await post("riverside-admin", `/subscriptions/${paused.id}/resume`), 409, "app-suspended");
    assertShape("AdminAppDto", suspended);
    assert.deepEqual([suspended.status, suspended.suspension?.reason], ["suspended", "Its page was taken over"]);
    await assertProblem(await subscribe(), 422, "unknown-app");
    await eventually("it is gone", 30_000, async () => (await app("quill-suspended")).status === 404);
    const { status, suspension } = await publisher.read("quill-suspended");
    assert.deepEqual([status, suspension?.reason], ["suspended", "Its page was taken over"]);
    await assertProblem(await post("operator", `${at}/suspend`, { reason: "again" }), 409, "already-suspended");
    for (const [action, isUnpublished] of [
      ["unpublish", true],
      ["republish", false],
    ] as const) {
      const listing = await json<ListingDto>(post(vendor, `/developer/apps/quill-suspended/${action}`));
      assert.deepEqual([listing.status, listing.isUnpublished], ["suspended", isUnpublished]);
      const record = await json<AdminAppDto>(publisher.request("operator", at));
      assert.deepEqual([record.status, record.isUnpublished], ["suspended", isUnpublished]);
    }
    await publisher.edit("quill-suspended", { version: "2.0.0" });
    await publisher.approve(await publisher.submit("quill-suspended"));
    assert.equal((await app("quill-suspended")).status, 404);
    assert.equal((await json<AdminAppDto>(post("operator", `${at}/reinstate`))).status, "published");
    await eventually("the approved revision is public", 30_000, async () => {
      const response = await app("quill-suspended");
      return response.status === 200 && ((await response.json()) as AppDto).version === "2.0.0";
    });
    assert.equal((await subscribe()).status, 201);
    await assertProblem(await post("operator", `${at}/reinstate`), 409, "not-suspended");
  });

  test("featured and no longer featured", async () => {
    await publisher.create("quill-featured");
    const id = await publisher.submit("quill-featured");
    await json(post("operator", `/admin/reviews/${id}/approve`));
    for (const featured of [true, false]) {
      const path = `/admin/apps/quill-featured/${featured ? "feature" : "unfeature"}`;
      assert.equal((await json<AdminAppDto>(post("operator", path))).featured, featured);
      await eventually(`featured: ${featured}`, 30_000, async () => {
        const apps = await json<AppDto[]>(marketplace.get("/apps/featured"));
        return apps.some(({ slug }) => slug === "quill-featured") === featured;
      });
      const { etag } = await publisher.read("quill-featured");
      await json(post("operator", path));
      assert.equal((await publisher.read("quill-featured")).etag, etag, "the same again changes nothing");
    }
  });

  test("only certifications that an operator verified say so, and they end with their date", async () => {
    const certifications = [
      { kind: "SOC2", validUntil: "2999-12-31", evidenceUrl: "https://quill.example/soc2" },
      { kind: "HITRUST", validUntil: "2999-12-31" },
      { kind: "ISO27001", validUntil: "2020-01-01" },
    ];
    await publisher.create("quill-trusted", { trust: { certifications, ai: { kind: "NONE" } } });
    const id = await publisher.submit("quill-trusted");
    await assertProblem(
      await post("operator", `/admin/reviews/${id}/approve`, { verifiedCertifications: [3] }),
      400,
      "invalid-request",
    );
    await json(post("operator", `/admin/reviews/${id}/approve`, { verifiedCertifications: [0] }));
    const trust = async () => (await shown("quill-trusted")).trust;
    assert.deepEqual(
      (await trust())?.certifications?.map(({ kind, verifiedBy }) => [kind, verifiedBy]),
      [
        ["SOC2", "operator"],
        ["HITRUST", null],
      ],
    );
    await asOwner(
      `update apps set certified_until = '2020-01-02',
         trust = replace(trust::text, '2999-12-31', '2020-01-02')::json where slug = 'quill-trusted'`,
    );
    const [{ ended }] = await withClient(marketplace.database.serviceUrl, async (client) => {
      const { rows } = await client.query("select end_certifications(100) as ended");
      return rows;
    });
    assert.equal(ended, 1);
    await eventually("no badge is shown", 30_000, async () => (await trust())?.certifications?.length === 0);
  });

  test("a vendor can have 20 open reviews", async () => {
    await asOwner(
      `insert into listings (app_id, slug, vendor_id, draft, created_at, updated_at)
       select gen_random_uuid(), 'many-' || n, vendors.id, '{"name":"x"}', now(), now()
       from vendors, generate_series(1, 20) as n where vendors.slug = 'lumen-medical'`,
    );
    await asOwner(
      `insert into revisions (id, app_id, number, name, version, draft, listing_version, submitted_at)
       select gen_random_uuid(), app_id, 1, 'x', '1', '{}', 1, now() - interval '2 days' from listings where slug like 'many-%'`,
    );
    await asOwner(
      `insert into reviews (id, app_id, number, vendor_id, submitted_at, due_at)
       select gen_random_uuid(), app_id, 1, vendor_id, now() - interval '2 days', now() from listings where slug like 'many-%'`,
    );
    const lumen = createPublisher(marketplace.url, (who) => marketplace.callers.token(who), "lumen-developer");
    await lumen.create("lumen-more");
    await assertProblem(await post("lumen-developer", "/developer/apps/lumen-more/submit"), 409, "too-many-reviews");
  });
});
