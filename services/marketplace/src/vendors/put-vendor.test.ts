import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage, VendorDto, VendorPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

describe("registering a vendor", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const put = (slug: string, body: unknown): Promise<Response> =>
    marketplace.requestAs("operator", `/admin/vendors/${slug}`, { method: "PUT", body });
  const done = async (status: number, slug: string, body: unknown): Promise<VendorDto> => {
    const response = await put(slug, body);
    assert.equal(response.status, status, await response.clone().text());
    const vendor = (await response.json()) as VendorDto;
    assertShape("VendorDto", vendor);
    return vendor;
  };
  const get = async (slug: string): Promise<unknown> =>
    (await marketplace.requestAs("operator", `/admin/vendors/${slug}`)).json();
  const audit = async (slug: string): Promise<AuditPage["items"]> => {
    const response = await marketplace.requestAs("operator", "/admin/audit?limit=1000");
    return ((await response.json()) as AuditPage).items.filter(({ onBehalfOf }) => onBehalfOf === `vendor:${slug}`);
  };
  const full = {
    name: "Quill & Co",
    websiteUrl: "https://quill.example",
    supportEmail: "help@quill.example",
    securityContact: "https://quill.example/security",
    commissionPercent: 12.5,
  };

  test("returns 201 for a new vendor and 200 for a changed one, and replaces every field", async () => {
    const made = await done(201, "quill", full);
    assert.deepEqual(made, { slug: "quill", ...full, createdAt: made.createdAt, updatedAt: made.createdAt });
    assert.deepEqual(await get("quill"), made);
    const changed = await done(200, "quill", { name: "Quill" });
    assert.ok(changed.updatedAt > made.updatedAt);
    const cleared = { websiteUrl: null, supportEmail: null, securityContact: null, commissionPercent: 0 };
    assert.deepEqual(changed, { ...made, name: "Quill", ...cleared, updatedAt: changed.updatedAt });
  });

  test("records who registered and changed it, and nothing where nothing changed", async () => {
    const made = await done(201, "audited", full);
    assert.deepEqual(await done(200, "audited", full), made);
    const changed = await done(200, "audited", { ...full, name: "Audited" });
    const entries = await audit("audited");
    assert.deepEqual(
      entries.map(({ action, before: from, after }) => [action, from, after]),
      [
        ["vendor.change", made, changed],
        ["vendor.register", null, made],
      ],
    );
  });

  test("the public catalog shows a new name at once, also where a response was cached", async () => {
    const nameInCatalog = async (): Promise<string> =>
      ((await (await marketplace.get("/apps/northwind-scribe")).json()) as AppDto).vendor.name;
    const shown = await nameInCatalog();
    const vendor = (await get("northwind-health")) as VendorDto;
    assert.equal(vendor.name, shown);
    await done(200, "northwind-health", { name: "Northwind Renamed", websiteUrl: vendor.websiteUrl });
    await eventually(
      "the cached response is dropped",
      30_000,
      async () => (await nameInCatalog()) === "Northwind Renamed",
    );
  });

  test("lists all vendors by slug, page by page", async () => {
    const slugs: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const response = await marketplace.requestAs(
        "operator",
        `/admin/vendors?limit=7${after === "" ? "" : `&after=${after}`}`,
      );
      const page = (await response.json()) as VendorPage;
      assertShape("VendorPage", page);
      slugs.push(...page.items.map(({ slug }) => slug));
      after = page.next;
    }
    assert.ok(slugs.includes("northwind-health"));
    assert.deepEqual(slugs, [...new Set(slugs)].toSorted());
  });

  test("an unknown vendor is 404", async () => {
    await assertProblem(await marketplace.requestAs("operator", "/admin/vendors/unheard-of"), 404, "vendor-not-found");
  });

  for (const [what, slug, body] of [
    ["a slug in capitals", "Quill", full],
    ["a slug of two letters", "qu", full],
    ["no name", "no-name", {}],
    ["a name with a zero-width space", "zero-width", { name: "Qu\u200bill" }],
    ["an unknown field", "unknown-field", { ...full, phone: "1" }],
    ["an http site", "http-site", { ...full, websiteUrl: "http://quill.example" }],
    ["a script as site", "script-site", { ...full, websiteUrl: "javascript:alert(1)" }],
    ["text as email", "text-email", { ...full, supportEmail: "help" }],
    ["text as security contact", "text-contact", { ...full, securityContact: "call us" }],
    ["more than everything", "greedy", { ...full, commissionPercent: 100.01 }],
    ["three decimals", "decimals", { ...full, commissionPercent: 12.345 }],
  ] as const) {
    test(`${what} is 400`, async () => {
      await assertProblem(await put(slug, body), 400, "invalid-request");
    });
  }

  test("two operators who register it at once make one vendor", async () => {
    const responses = await Promise.all(["One", "Two"].map((name) => put("raced", { name })));
    assert.deepEqual(responses.map(({ status }) => String(status)).toSorted(), ["200", "201"]);
    assert.equal((await audit("raced")).length, 2);
  });
});
