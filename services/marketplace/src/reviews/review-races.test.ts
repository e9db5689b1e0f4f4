import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, ListingDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, rounds } from "@ehr-marketplace/test-kit";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { findHalfPublished } from "@ehr-marketplace/tests/support/publication-consistency";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";

/** A vendor can submit 50 revisions a day. */
const roundsPerVendor = 40;

describe("decisions at the same time", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    // Reading what is public has to see the database, not a cache.
    marketplace = await startMarketplaceWithCallers(cleanUp, { CATALOG_CACHE_SECONDS: "0" });
  });

  async function createVendor(slug: string): Promise<Publisher<"vendor" | "second-operator">> {
    const { callers } = marketplace;
    const tokens = {
      vendor: await signToken(callers, { sub: `developer of ${slug}`, vendor: slug, roles: ["vendor-developer"] }),
      operator: callers.token("operator"),
      "second-operator": await signToken(callers, { sub: "second-operator", roles: ["operator"] }),
    };
    const registered = await marketplace.requestAs("operator", `/admin/vendors/${slug}`, {
      method: "PUT",
      body: { name: slug },
    });
    assert.equal(registered.status, 201);
    return createPublisher<"vendor" | "second-operator">(marketplace.url, (who) => tokens[who], "vendor");
  }

  test("two reviewers, the vendor's withdrawal and an edit: one decision counts, and only what was submitted is public", async (t) => {
    const count = rounds(20, 200);
    const outcomes = new Map<string, number>();
    let publisher = await createVendor("racing");
    let publicVersion: string | undefined;
    let slug = "";
    for (let round = 0; round < count; round += 1) {
      if (round % roundsPerVendor === 0) {
        publisher = await createVendor(`racing-${round}`);
        slug = `raced-${round}`;
        publicVersion = undefined;
        await publisher.create(slug);
      }
      const version = `1.0.${round}`;
      const { etag } = await publisher.read(slug);
      const path = `/developer/apps/${slug}`;
      const edited = await publisher.request("vendor", path, {
        method: "PATCH",
        body: { version },
        headers: { "if-match": etag },
      });
      assert.equal(edited.status, 200, await edited.clone().text());
      const id = await publisher.submit(slug);
      const { etag: submitted } = await publisher.read(slug);
      const approve = (who: "operator" | "second-operator") =>
        publisher.request(who, `/admin/reviews/${id}/approve`, { body: {} });
      const reject = { reasons: [{ pointer: "", text: "Not now" }] };
      const [first, second, withdrawn, edit] = await Promise.all([
        approve("operator"),
        round % 3 === 0
          ? publisher.request("second-operator", `/admin/reviews/${id}/reject`, { body: reject })
          : approve("second-operator"),
        publisher.request("vendor", `${path}/withdraw`, { method: "POST" }),
        publisher.request("vendor", path, {
          method: "PATCH",
          body: { version: `${version}-never-submitted` },
          headers: { "if-match": submitted },
        }),
      ]);
      const statuses = [first.status, second.status, withdrawn.status];
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 409, 409],
        statuses.join(),
      );
      assert.ok(edit.status === 200 || edit.status === 412, await edit.text());
      const winner = ["first", round % 3 === 0 ? "rejection" : "second", "withdrawal"][statuses.indexOf(200)] ?? "";
      outcomes.set(winner, (outcomes.get(winner) ?? 0) + 1);
      if (winner === "first" || winner === "second") publicVersion = version;
      const app = await marketplace.get(`/apps/${slug}`);
      if (publicVersion === undefined) assert.equal(app.status, 404);
      else assert.equal(((await app.json()) as AppDto).version, publicVersion);
      const listing: ListingDto = await publisher.read(slug);
      assert.equal(listing.publishedRevision === null, publicVersion === undefined);
    }
    assert.deepEqual(await findHalfPublished(marketplace.database.ownerUrl), []);
    t.diagnostic(`${count} rounds: ${[...outcomes].map(([who, times]) => `${who} ${times}`).join(", ")}`);
  });
});
