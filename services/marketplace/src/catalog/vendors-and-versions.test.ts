import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppPage, AppVersionPage, VendorProfile } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";

/** For a busy machine. Less than the lifetime of a cached response, after which each change would be visible. */
const visibleWithinMs = 20_000;

describe("a vendor's profile and an app's versions", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let publisher: Publisher<Persona>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { CATALOG_CACHE_SECONDS: "60" });
    publisher = createPublisher(
      marketplace.url,
      (who) => marketplace.callers.token(who),
      "northwind-developer" satisfies Persona,
    );
  });
  const read = async <T>(path: string): Promise<T> => {
    const response = await marketplace.get(path);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as T;
  };
  const profile = (slug: string): Promise<VendorProfile> => read(`/vendors/${slug}`);
  const versions = (slug: string, query = ""): Promise<AppVersionPage> => read(`/apps/${slug}/versions${query}`);
  const asOperator = (path: string, method: string, body: object): Promise<Response> =>
    marketplace.requestAs("operator", path, { method, body });
  const asOwner = (statement: string): Promise<unknown> =>
    withClient(marketplace.database.ownerUrl, (client) => client.query(statement));
  const release = async (slug: string, version: string, releaseNotes: string): Promise<string> => {
    await publisher.edit(slug, { version, releaseNotes });
    return publisher.submit(slug);
  };

  test("a profile has what practices may know of the vendor, and the number of its published apps", async () => {
    const contacts = { supportEmail: "help@lumen.example", securityContact: "https://lumen.example/security" };
    const body = { name: "Lumen Medical", websiteUrl: "https://lumen.example", ...contacts, commissionPercent: 12.5 };
    await profile("lumen-medical");
    assert.equal((await asOperator("/admin/vendors/lumen-medical", "PUT", body)).status, 200);
    await eventually("the new contacts", visibleWithinMs, async () => {
      return (await profile("lumen-medical")).supportEmail === contacts.supportEmail;
    });
    const found = await profile("lumen-medical");
    assertShape("VendorProfile", found);
    const { totalElements } = await read<AppPage>("/apps?vendor=lumen-medical");
    const { commissionPercent: _, ...publicFields } = body;
    assert.deepEqual(found, { slug: "lumen-medical", ...publicFields, appCount: totalElements });
  });

  test("a vendor without published apps has no profile; the first publication makes one, the last withdrawal ends it", async () => {
    const slug = "northwind-health";
    await asOwner(
      `update apps set status = 'withdrawn' where vendor_id = (select id from vendors where slug = '${slug}')`,
    );
    await eventually("the vendor has no published apps", visibleWithinMs, async () => {
      return (await marketplace.get(`/vendors/${slug}`)).status === 404;
    });
    await assertProblem(await marketplace.get(`/vendors/${slug}`), 404, "vendor-not-found");
    await publisher.create("quill-first");
    const review = await publisher.submit("quill-first");
    assert.equal((await marketplace.get(`/vendors/${slug}`)).status, 404);
    await publisher.approve(review);
    await eventually("the publication", visibleWithinMs, async () => {
      const response = await marketplace.get(`/vendors/${slug}`);
      return response.status === 200 && ((await response.json()) as VendorProfile).appCount === 1;
    });
    const { content } = await read<AppPage>(`/apps?vendor=${slug}`);
    assert.deepEqual(
      content.map((app) => app.slug),
      ["quill-first"],
    );
    const unpublished = await publisher.request("northwind-developer", "/developer/apps/quill-first/unpublish", {
      method: "POST",
    });
    assert.equal(unpublished.status, 200);
    await eventually("the vendor has no published apps", visibleWithinMs, async () => {
      return (await marketplace.get(`/vendors/${slug}`)).status === 404;
    });
    await assertProblem(await marketplace.get("/apps/quill-first/versions"), 404, "app-not-found");
  });

  for (const slug of ["no-such-vendor", "NORTHWIND-HEALTH", "northwind_health", "a".repeat(500)]) {
    test(`/vendors/${slug.slice(0, 30)} is 404`, async () => {
      await assertProblem(await marketplace.get(`/vendors/${slug}`), 404, "vendor-not-found");
    });
  }

  test("versions are the approved revisions, newest first, each visible as soon as it is approved", async () => {
    const first = await publisher.publish("quill-released", { releaseNotes: "The **first** one" });
    const published = await versions("quill-released");
    assertShape("AppVersionPage", published);
    assert.deepEqual(published, {
      items: [{ version: "1.0.0", releaseNotes: "The **first** one", publishedAt: first.decidedAt }],
      next: null,
    });
    await publisher.approve(await release("quill-released", "1.1.0", "Secret until approved"));
    await publisher.approve(await release("quill-released", "1.2.0", ""));
    await eventually("the new versions", visibleWithinMs, async () => {
      return (await versions("quill-released")).items.length === 3;
    });
    const { items } = await versions("quill-released");
    for (const item of items) assertShape("AppVersionDto", item);
    assert.deepEqual(
      items.map(({ version, releaseNotes }) => [version, releaseNotes]),
      [
        ["1.2.0", null],
        ["1.1.0", "Secret until approved"],
        ["1.0.0", "The **first** one"],
      ],
    );
    assert.deepEqual(
      items.map(({ publishedAt }) => publishedAt),
      items
        .map(({ publishedAt }) => publishedAt)
        .toSorted()
        .toReversed(),
    );
  });

  test("neither drafts nor revisions that are in review, rejected or withdrawn are versions", async () => {
    await publisher.publish("quill-private", { reviewNotes: "Not for the public" });
    const rejected = await release("quill-private", "2.0.0", "Rejected");
    const reasons = [{ pointer: "/releaseNotes", text: "Says too little." }];
    assert.equal((await asOperator(`/admin/reviews/${rejected}/reject`, "POST", { reasons })).status, 200);
    await release("quill-private", "3.0.0", "Withdrawn");
    const withdraw = { method: "POST" };
    const path = "/developer/apps/quill-private/withdraw";
    assert.equal((await publisher.request("northwind-developer", path, withdraw)).status, 200);
    await release("quill-private", "4.0.0", "In review");
    await publisher.edit("quill-private", { version: "5.0.0", releaseNotes: "Draft" });
    // Nothing of this changes the catalog. Pages that aren't cached yet show the same.
    for (const query of ["", "?limit=7"]) {
      const { items, next } = await versions("quill-private", query);
      assert.deepEqual([items.map(({ version }) => version), next], [["1.0.0"], null]);
    }
  });

  test("the first version of an app that was public before there were reviews is the adopted one, without release notes", async () => {
    await asOwner(`insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, published_at, updated_at)
      select gen_random_uuid(), 'quill-adopted', id, 'FINANCIAL', 'published', 'Quill', 's', 'd', 'https://i.example/x', '0.9',
        '2025-01-02T03:04:05.678Z', '2025-06-01' from vendors where slug = 'northwind-health'`);
    await asOwner("select adopt_apps()");
    const adopted = { version: "0.9", releaseNotes: null, publishedAt: "2025-01-02T03:04:05.678Z" };
    assert.deepEqual(await versions("quill-adopted"), { items: [adopted], next: null });
  });

  test("versions come in pages, which a publication doesn't shift", async () => {
    await publisher.publish("quill-paged");
    for (const version of ["1.1.0", "1.2.0", "1.3.0"]) {
      await publisher.approve(await release("quill-paged", version, `News of ${version}`));
    }
    await eventually("the new versions", visibleWithinMs, async () => {
      return (await versions("quill-paged", "?limit=2")).items[0]?.version === "1.3.0";
    });
    const first = await versions("quill-paged", "?limit=2");
    assert.deepEqual(
      first.items.map(({ version }) => version),
      ["1.3.0", "1.2.0"],
    );
    await publisher.approve(await release("quill-paged", "1.4.0", "Meanwhile"));
    const second = await versions("quill-paged", `?limit=2&after=${first.next}`);
    assert.deepEqual([second.items.map(({ version }) => version), second.next], [["1.1.0", "1.0.0"], null]);
    for (const limit of [100, 5_000]) {
      assert.equal((await versions("quill-paged", `?limit=${limit}&after=${first.next}`)).items.length, 2);
    }
    await assertProblem(await marketplace.get("/apps/quill-paged/versions?after=abc"), 400, "invalid-request");
    await assertProblem(await marketplace.get("/apps/quill-paged/versions?limit=0"), 400, "invalid-request");
  });
});
