import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AdminAppDto, AppDto, ListingDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, rounds, withClient } from "@ehr-marketplace/test-kit";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { findHalfPublished } from "@ehr-marketplace/tests/support/publication-consistency";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import fc from "fast-check";

const vendorCommands = ["edit", "submit", "withdraw", "unpublish", "republish"] as const;
const operatorCommands = [
  "approve",
  "reject",
  "suspend",
  "suspend-and-pause",
  "reinstate",
  "feature",
  "unfeature",
] as const;
const commands = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...vendorCommands) },
    { weight: 5, arbitrary: fc.constantFrom(...operatorCommands) },
    // Most sequences should get somewhere.
    { weight: 4, arbitrary: fc.constantFrom("submit" as const, "approve" as const) },
  ),
  { minLength: 1, maxLength: 20 },
);
type Command = (typeof vendorCommands)[number] | (typeof operatorCommands)[number];

/** A suspension can start to pause subscriptions later, once; after a reinstatement, again. */
const pausingLater: Command[] = [
  "submit",
  "approve",
  "suspend",
  "suspend-and-pause",
  "suspend-and-pause",
  "suspend",
  "reinstate",
  "suspend",
  "suspend-and-pause",
];

/** A second implementation of the rules, by what a person would say of a listing. */
class Model {
  draft = 0;
  underReview: number | undefined;
  lastDecision: "approved" | "rejected" | "withdrawn" | undefined;
  publicVersion: number | undefined;
  hiddenByVendor = false;
  hiddenByOperator = false;
  pausesSubscriptions = false;
  featured = false;

  /** Returns the expected status of the response. */
  expect(command: Command, edits: number): 200 | 409 {
    const isOpen = this.underReview !== undefined;
    const wasPublic = this.publicVersion !== undefined;
    switch (command) {
      case "edit":
        this.draft = edits;
        return 200;
      case "submit":
        if (isOpen) return 409;
        this.underReview = this.draft;
        return 200;
      case "withdraw":
      case "reject":
      case "approve":
        if (!isOpen) return 409;
        if (command === "approve") this.publicVersion = this.underReview;
        this.lastDecision = command === "approve" ? "approved" : command === "reject" ? "rejected" : "withdrawn";
        this.underReview = undefined;
        return 200;
      case "unpublish":
        if (!wasPublic || this.hiddenByVendor) return 409;
        this.hiddenByVendor = true;
        return 200;
      case "republish":
        if (!this.hiddenByVendor) return 409;
        this.hiddenByVendor = false;
        return 200;
      case "suspend":
        if (!wasPublic || this.hiddenByOperator) return 409;
        this.hiddenByOperator = true;
        return 200;
      case "suspend-and-pause":
        if (!wasPublic || this.pausesSubscriptions) return 409;
        this.hiddenByOperator = true;
        this.pausesSubscriptions = true;
        return 200;
      case "reinstate":
        if (!this.hiddenByOperator) return 409;
        this.hiddenByOperator = false;
        this.pausesSubscriptions = false;
        return 200;
      case "feature":
      case "unfeature":
        if (!wasPublic) return 409;
        this.featured = command === "feature";
        return 200;
    }
  }

  status(): string {
    if (this.hiddenByOperator) return "suspended";
    if (this.hiddenByVendor) return "unpublished";
    if (this.underReview !== undefined) return "in-review";
    if (this.lastDecision === "rejected") return "changes-requested";
    return this.publicVersion === undefined ? "draft" : "published";
  }

  visibleVersion(): number | undefined {
    return this.hiddenByOperator || this.hiddenByVendor ? undefined : this.publicVersion;
  }
}

describe("any sequence of commands of a vendor, a reviewer and an operator", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { CATALOG_CACHE_SECONDS: "0" });
  });

  async function createVendor(slug: string): Promise<Publisher<"vendor">> {
    const { callers } = marketplace;
    const vendor = await signToken(callers, { sub: slug, vendor: slug, roles: ["vendor-developer"] });
    const body = { name: slug };
    const registered = await marketplace.requestAs("operator", `/admin/vendors/${slug}`, { method: "PUT", body });
    assert.equal(registered.status, 201);
    const token = (who: "vendor" | "operator"): string => (who === "vendor" ? vendor : callers.token("operator"));
    return createPublisher<"vendor">(marketplace.url, token, "vendor");
  }

  let runs = 0;
  async function follow(sequence: Command[]): Promise<void> {
    runs += 1;
    const slug = `modelled-${runs}`;
    const publisher = await createVendor(`vendor-${runs}`);
    await publisher.create(slug, { version: "0" });
    const model = new Model();
    let review = "00000000-0000-4000-8000-000000000000";
    const send = async (command: Command, edits: number): Promise<Response> => {
      const path = `/developer/apps/${slug}`;
      if (command === "edit") {
        const headers = { "if-match": (await publisher.read(slug)).etag };
        return publisher.request("vendor", path, { method: "PATCH", body: { version: String(edits) }, headers });
      }
      if (command === "approve") return publisher.request("operator", `/admin/reviews/${review}/approve`, { body: {} });
      if (command === "reject") {
        const body = { reasons: [{ pointer: "/version", text: "Not this one" }] };
        return publisher.request("operator", `/admin/reviews/${review}/reject`, { body });
      }
      if ((vendorCommands as readonly string[]).includes(command)) {
        return publisher.request("vendor", `${path}/${command}`, { method: "POST" });
      }
      if (command === "suspend" || command === "suspend-and-pause") {
        const body = { reason: "Modelled", pauseSubscriptions: command === "suspend-and-pause" };
        return publisher.request("operator", `/admin/apps/${slug}/suspend`, { body });
      }
      return publisher.request("operator", `/admin/apps/${slug}/${command}`, { method: "POST" });
    };

    for (const [step, command] of sequence.entries()) {
      const expected = model.expect(command, step + 1);
      // A vendor waits ten seconds between these; here time passes at once.
      await withClient(marketplace.database.ownerUrl, (client) =>
        client.query("update listings set republished_at = null where slug = $1", [slug]),
      );
      const response = await send(command, step + 1);
      const isUnknownReview = response.status === 404 && review.startsWith("00000000");
      assert.equal(isUnknownReview ? 409 : response.status, expected, `${command}: ${await response.clone().text()}`);
      const listing: ListingDto = await publisher.read(slug);
      if (command === "submit" && response.status === 200) review = listing.review?.id ?? "";
      assert.equal(listing.status, model.status(), command);
      const app = await marketplace.get(`/apps/${slug}`);
      const shown = app.status === 200 ? ((await app.json()) as AppDto) : undefined;
      assert.equal(shown?.version, model.visibleVersion()?.toString(), command);
      const seen = (await (await publisher.request("operator", `/admin/apps/${slug}`)).json()) as AdminAppDto;
      assert.deepEqual([seen.status, seen.featured], [model.status(), model.featured], command);
      const pausing = seen.suspension?.subscriptions?.state ?? "none";
      assert.equal(["pausing", "paused"].includes(pausing), model.pausesSubscriptions, `${command}: ${pausing}`);
    }
  }

  test("is answered as a model says, and never makes anything public that nobody approved", async () => {
    const numRuns = rounds(15, 150);
    await fc.assert(fc.asyncProperty(commands, follow), { numRuns, endOnFailure: true, examples: [[pausingLater]] });
    assert.deepEqual(await findHalfPublished(marketplace.database.ownerUrl), []);
  });
});
