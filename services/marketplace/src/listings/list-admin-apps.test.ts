import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  type AdminAppPage,
  type AdminAppSummary,
  listingStatuses,
  type ReviewStatus,
} from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { listingStatus } from "./listing-state.ts";

const reviews: (ReviewStatus | null)[] = [null, "open", "approved", "rejected", "withdrawn"];
const listings = [null, 1]
  .flatMap((publishedRevision) =>
    reviews.flatMap((review) =>
      [false, true].flatMap((isUnpublished) =>
        [false, true].map((isSuspended) => ({ publishedRevision, review, isUnpublished, isSuspended })),
      ),
    ),
  )
  // As the database allows: only what is published can be unpublished or suspended.
  .filter((each) => each.publishedRevision !== null || (!each.isUnpublished && !each.isSuspended))
  .map((facts, index) => ({ slug: `listed-${index}`, facts, status: listingStatus(facts) }));

describe("the operators' list of apps", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query(
        `with given as (
           select gen_random_uuid() as app_id, vendors.id as vendor_id, facts.*, now() + index * interval '1 second' as at
           from json_to_recordset($1) as facts(index integer, slug text, published integer, review text, unpublished boolean,
             suspended boolean)
           join vendors on vendors.slug = 'lumen-medical'
         ), listed as (
           insert into listings (app_id, slug, vendor_id, draft, published_revision, unpublished_at, suspended_at,
             suspension_reason, created_at, updated_at)
           select app_id, slug, vendor_id, '{"name": "Listed"}', published, case when unpublished then at end,
             case when suspended then at end, case when suspended then 'Taken over' end, at, at
           from given
         ), revised as (
           insert into revisions (id, app_id, number, name, version, draft, listing_version, submitted_at)
           select gen_random_uuid(), app_id, 1, 'Listed', '1', '{}', 1, at from given
         )
         insert into reviews (id, app_id, number, vendor_id, submitted_at, due_at, decision, decided_at, reasons)
         select gen_random_uuid(), app_id, 1, vendor_id, at, at, nullif(review, 'open'),
           case when review <> 'open' then at end, (case when review = 'rejected' then '[{}]' else '[]' end)::json
         from given where review is not null`,
        [
          JSON.stringify(
            listings.map(({ slug, facts }, index) => ({
              index,
              slug,
              published: facts.publishedRevision,
              review: facts.review,
              unpublished: facts.isUnpublished,
              suspended: facts.isSuspended,
            })),
          ),
        ],
      );
    });
  });
  const read = async (query: string): Promise<AdminAppPage> => {
    const response = await marketplace.requestAs("operator", `/admin/apps?${query}`);
    assert.equal(response.status, 200, await response.clone().text());
    const page = (await response.json()) as AdminAppPage;
    assertShape("AdminAppPage", page);
    return page;
  };
  const walk = async (query: string): Promise<AdminAppSummary[]> => {
    const items: AdminAppSummary[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: AdminAppPage = await read(`${query}&limit=3${next === "" ? "" : `&after=${next}`}`);
      items.push(...page.items);
      next = page.next;
    }
    return items;
  };
  const slugs = (items: { slug: string }[]): string[] => items.map(({ slug }) => slug);
  const newestFirst = listings.toReversed();

  test("has the drafts and apps of a vendor, newest first, with the status that each has by itself", async () => {
    const items = (await walk("vendor=lumen-medical")).filter(({ slug }) => slug.startsWith("listed-"));
    assert.deepEqual(
      items.map(({ slug, status, vendor }) => [slug, status, vendor]),
      newestFirst.map(({ slug, status }) => [slug, status, "lumen-medical"]),
    );
  });

  for (const status of listingStatuses) {
    test(`with status=${status}, has exactly those with that status`, async () => {
      const items = await walk(`status=${status}`);
      assert.ok(items.every((each) => each.status === status));
      assert.deepEqual(
        slugs(items).filter((slug) => slug.startsWith("listed-")),
        slugs(newestFirst.filter((each) => each.status === status)),
      );
    });
  }

  test("has those that are suspended, with the reason, or those that aren't", async () => {
    const suspended = await walk("suspended=true");
    assert.deepEqual(slugs(suspended), slugs(newestFirst.filter(({ facts }) => facts.isSuspended)));
    assert.ok(suspended.every(({ suspension }) => suspension?.reason === "Taken over"));
    const others = await walk("suspended=false&vendor=lumen-medical");
    assert.ok(others.length > 0 && others.every(({ suspension }) => suspension === null));
  });

  test("has nothing of an unknown vendor, and refuses an unknown status", async () => {
    assert.deepEqual(await read("vendor=nobody-at-all"), { items: [], next: null });
    await assertProblem(await marketplace.requestAs("operator", "/admin/apps?status=gone"), 400, "invalid-request");
  });
});
