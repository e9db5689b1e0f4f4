import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, ListingDraft, ListingDto, ListingPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

describe("a listing's draft", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  type Who = Parameters<MarketplaceWithCallers["requestAs"]>[0];
  const vendor: Who = "northwind-developer";
  const create = (slug: string, by: Who = vendor): Promise<Response> =>
    marketplace.requestAs(by, "/developer/apps", { body: { slug, name: "Quill" } });
  const created = async (slug: string): Promise<string> => {
    const response = await create(slug);
    assert.equal(response.status, 201, await response.clone().text());
    return response.headers.get("etag") ?? "";
  };
  const read = async (slug: string): Promise<ListingDto & { etag: string }> => {
    const response = await marketplace.requestAs(vendor, `/developer/apps/${slug}`);
    assert.equal(response.status, 200, await response.clone().text());
    const listing = (await response.json()) as ListingDto;
    assertShape("ListingDto", listing);
    return { ...listing, etag: response.headers.get("etag") ?? "" };
  };
  const patch = (
    slug: string,
    body: unknown,
    etag?: string,
    { by = vendor, contentType }: { by?: Who; contentType?: string } = {},
  ): Promise<Response> =>
    marketplace.requestAs(by, `/developer/apps/${slug}`, {
      method: "PATCH",
      body,
      headers: {
        ...(etag === undefined ? {} : { "if-match": etag }),
        ...(contentType === undefined ? {} : { "content-type": contentType }),
      },
    });
  const edited = async (slug: string, body: unknown): Promise<ListingDraft> => {
    const response = await patch(slug, body, (await read(slug)).etag);
    assert.equal(response.status, 200, await response.clone().text());
    return ((await response.json()) as ListingDto).draft;
  };

  test("begins with a name, for its vendor only", async () => {
    const response = await create("quill-notes");
    assert.equal(response.status, 201);
    assert.equal(response.headers.get("location"), "/api/v1/developer/apps/quill-notes");
    const listing = (await response.json()) as ListingDto;
    assertShape("ListingDto", listing);
    assert.deepEqual(listing, {
      slug: "quill-notes",
      status: "draft",
      publishedRevision: null,
      isUnpublished: false,
      review: null,
      suspension: null,
      draft: { name: "Quill" },
      createdAt: listing.createdAt,
      updatedAt: listing.createdAt,
    });
    const others: [Who, Record<string, string>][] = [
      ["lumen-developer", {}],
      ["operator", { "x-vendor-slug": "lumen-labs" }],
    ];
    for (const [who, headers] of others) {
      const request = await marketplace.requestAs(who, "/developer/apps/quill-notes", { headers });
      await assertProblem(request, 404, "listing-not-found");
    }
    assert.equal((await marketplace.get("/apps/quill-notes")).status, 404);
  });

  test("a slug is used once, also by two vendors at once, and never one of an app or of the catalog's paths", async () => {
    const both = await Promise.all([create("raced-slug"), create("raced-slug", "lumen-developer")]);
    assert.deepEqual(both.map(({ status }) => String(status)).toSorted(), ["201", "409"]);
    const own = await assertProblem(await create("northwind-scribe"), 409, "slug-taken");
    assert.match(String(own["detail"]), /has this listing already: GET \/developer\/apps\/northwind-scribe returns/);
    const other = await assertProblem(await create("northwind-scribe", "lumen-developer"), 409, "slug-taken");
    assert.equal(other["detail"], "Another app has, or had, the slug northwind-scribe.");
    for (const slug of ["search", "featured", "categories", "No", "-a-", "x".repeat(65)]) {
      await assertProblem(await create(slug), 400, "invalid-request");
    }
  });

  test("is changed field by field: absent stays, null removes, lists are replaced, objects are merged", async () => {
    await created("merged");
    await edited("merged", {
      summary: "Notes",
      extensionPoints: ["note-panel", "global-nav"],
      oauth: { type: "PUBLIC" },
    });
    const draft = await edited("merged", {
      name: null,
      extensionPoints: ["settings"],
      oauth: { redirectUris: ["https://quill.example/back"] },
      trust: { ai: { kind: "NONE" }, accessibility: null },
    });
    assert.deepEqual(draft, {
      summary: "Notes",
      extensionPoints: ["settings"],
      oauth: { type: "PUBLIC", redirectUris: ["https://quill.example/back"] },
      trust: { ai: { kind: "NONE" } },
    });
    assert.deepEqual((await read("merged")).draft, draft);
  });

  test("accepts a patch as merge patch and as JSON, and nothing else", async () => {
    await created("media-types");
    for (const contentType of ["application/merge-patch+json", "application/json"]) {
      const response = await patch("media-types", { summary: contentType }, (await read("media-types")).etag, {
        contentType,
      });
      assert.equal(response.status, 200, await response.clone().text());
    }
    const refused = await patch("media-types", {}, '"1"', { contentType: "application/json-patch+json" });
    await assertProblem(refused, 415, "unsupported-media-type");
  });

  test("keeps the order of a config schema's fields", async () => {
    await created("ordered");
    const properties = {
      zeta: { type: "string" },
      alpha: { type: "string" },
      10: { type: "string" },
      mid: { type: "string" },
    };
    const draft = await edited("ordered", { configSchema: { type: "object", properties } });
    assert.deepEqual(Object.keys((draft.configSchema as { properties: object }).properties), Object.keys(properties));
  });

  test("needs If-Match, 428 before anything else is validated, and 412 where another was faster", async () => {
    const etag = await created("matched");
    const { detail } = await assertProblem(await patch("matched", "{", undefined), 428, "precondition-required");
    assert.match(String(detail), /GET \/api\/v1\/developer\/apps\/matched returns it/);
    await assertProblem(await patch("matched", { bad: 1 }, undefined), 428, "precondition-required");
    const both = await Promise.all(["One", "Two"].map((summary) => patch("matched", { summary }, etag)));
    assert.deepEqual(both.map(({ status }) => String(status)).toSorted(), ["200", "412"]);
    await assertProblem(await patch("matched", { summary: "late" }, etag), 412, "listing-changed");
    assert.equal((await patch("matched", { summary: "weak" }, `W/${(await read("matched")).etag}`)).status, 200);
  });

  test("a patch that changes nothing keeps the version and writes no audit entry", async () => {
    const etag = await created("unchanged");
    const response = await patch("unchanged", { name: "Quill", summary: null }, etag);
    assert.equal(response.headers.get("etag"), etag);
    assert.deepEqual(
      (await audit("unchanged")).map(({ action }) => action),
      ["listing.create"],
    );
  });
  const audit = async (slug: string): Promise<AuditPage["items"]> => {
    const response = await marketplace.requestAs("operator", "/admin/audit?limit=1000");
    return ((await response.json()) as AuditPage).items.filter(({ target }) => target.id === slug);
  };

  test("the audit log says which fields changed, not what they contain", async () => {
    await created("audited");
    await edited("audited", { summary: "Secret plans", reviewNotes: "password: hunter2", name: null });
    const [entry] = await audit("audited");
    assert.deepEqual(entry?.before, { version: 1 });
    assert.deepEqual(entry?.after, { version: 2, changed: ["name", "summary", "reviewNotes"] });
  });

  test("review notes are stored encrypted, and their vendor can read them", async () => {
    await created("noted");
    const draft = await edited("noted", { reviewNotes: "user: tess, password: hunter2" });
    assert.equal(draft.reviewNotes, "user: tess, password: hunter2");
    const stored = await withClient(marketplace.database.ownerUrl, async (client) => {
      const { rows } = await client.query("select listings::text as row from listings where slug = 'noted'");
      return (rows[0] as { row: string }).row;
    });
    assert.doesNotMatch(stored, /hunter2/);
    assert.equal((await edited("noted", { reviewNotes: null })).reviewNotes, undefined);
  });

  for (const [what, body, pointer] of [
    ["an unknown field", { colour: "red" }, "/body/colour"],
    ["a number as name", { name: 1 }, "/body/name"],
    ["a name of 201 characters", { name: "x".repeat(201) }, "/body/name"],
    ["an unknown audience", { audience: "DOGS" }, "/body/audience"],
    [
      "a verified badge",
      { trust: { certifications: [{ kind: "SOC2", verifiedBy: "me" }] } },
      "/body/trust/certifications/0/verifiedBy",
    ],
    ["21 plans", { plans: Array.from({ length: 21 }, () => ({})) }, "/body/plans"],
    ["a path as media id", { icon: "../../etc/passwd" }, "/body/icon"],
    ["NUL", { summary: "a\u0000b" }, "/body/summary"],
    ["a list", [], "/body"],
  ] as const) {
    test(`${what} is 400 and named`, async () => {
      const slug = `invalid-${what.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`;
      const etag = await created(slug);
      const { errors } = await assertProblem(await patch(slug, body, etag), 400, "invalid-request");
      assert.ok(
        (errors as { pointer: string }[]).some((error) => error.pointer === pointer),
        JSON.stringify(errors),
      );
      assert.equal((await read(slug)).etag, etag);
    });
  }

  test("another vendor can't change it, nor learn that it exists", async () => {
    const etag = await created("private");
    for (const slug of ["private", "unheard-of"]) {
      const response = await patch(slug, { summary: "mine" }, etag, { by: "lumen-developer" });
      await assertProblem(response, 404, "listing-not-found");
    }
  });

  test("lists the vendor's own listings, oldest first, without drafts", async () => {
    for (const slug of ["listed-b", "listed-a"]) await created(slug);
    const response = await marketplace.requestAs(vendor, "/developer/apps?limit=1000");
    const page = (await response.json()) as ListingPage;
    assertShape("ListingPage", page);
    const slugs = page.items.map(({ slug }) => slug);
    assert.ok(slugs.indexOf("listed-b") < slugs.indexOf("listed-a"));
    assert.ok(!slugs.includes("raced-slug") || page.items.every((item) => !("draft" in item)));
    const others = (await (await marketplace.requestAs("lumen-developer", "/developer/apps")).json()) as ListingPage;
    assert.ok(others.items.every(({ slug }) => !slug.startsWith("listed")));
  });
});
