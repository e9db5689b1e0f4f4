import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  findRefusal,
  type ListingCommand,
  type ListingFacts,
  listingCommands,
  listingStatus,
} from "./listing-state.ts";

const reviews = [null, "open", "approved", "rejected", "withdrawn"] as const;

/** All facts that the database allows: only a published listing can be unpublished, suspended or approved. */
const everyFacts: ListingFacts[] = [null, 1]
  .flatMap((publishedRevision) =>
    reviews.flatMap((review) =>
      [false, true].flatMap((isUnpublished) =>
        [false, true].map((isSuspended) => ({ publishedRevision, review, isUnpublished, isSuspended })),
      ),
    ),
  )
  .filter(
    ({ publishedRevision, review, isUnpublished, isSuspended }) =>
      publishedRevision !== null || (review !== "approved" && !isUnpublished && !isSuspended),
  );

const nameOf = ({ publishedRevision, review, isUnpublished, isSuspended }: ListingFacts): string =>
  [
    publishedRevision === null ? "new" : "public",
    ...(isUnpublished ? ["unpublished"] : []),
    ...(isSuspended ? ["suspended"] : []),
    review ?? "unsubmitted",
  ].join(" ");

/** Status, and the commands that are allowed, of every state. */
const table: Record<string, [status: string, ...allowed: ListingCommand[]]> = {
  "new unsubmitted": ["draft", "submit", "delete"],
  "new open": ["in-review", "withdraw", "approve", "reject"],
  "new rejected": ["changes-requested", "submit"],
  "new withdrawn": ["draft", "submit"],
  "public unsubmitted": ["published", "submit", "unpublish", "feature", "unfeature", "suspend"],
  "public open": ["in-review", "withdraw", "approve", "reject", "unpublish", "feature", "unfeature", "suspend"],
  "public approved": ["published", "submit", "unpublish", "feature", "unfeature", "suspend"],
  "public rejected": ["changes-requested", "submit", "unpublish", "feature", "unfeature", "suspend"],
  "public withdrawn": ["published", "submit", "unpublish", "feature", "unfeature", "suspend"],
  "public unpublished unsubmitted": ["unpublished", "submit", "republish", "feature", "unfeature", "suspend"],
  "public unpublished open": [
    "unpublished",
    "withdraw",
    "approve",
    "reject",
    "republish",
    "feature",
    "unfeature",
    "suspend",
  ],
  "public unpublished approved": ["unpublished", "submit", "republish", "feature", "unfeature", "suspend"],
  "public unpublished rejected": ["unpublished", "submit", "republish", "feature", "unfeature", "suspend"],
  "public unpublished withdrawn": ["unpublished", "submit", "republish", "feature", "unfeature", "suspend"],
  "public suspended unsubmitted": ["suspended", "submit", "unpublish", "feature", "unfeature", "reinstate"],
  "public suspended open": [
    "suspended",
    "withdraw",
    "approve",
    "reject",
    "unpublish",
    "feature",
    "unfeature",
    "reinstate",
  ],
  "public suspended approved": ["suspended", "submit", "unpublish", "feature", "unfeature", "reinstate"],
  "public suspended rejected": ["suspended", "submit", "unpublish", "feature", "unfeature", "reinstate"],
  "public suspended withdrawn": ["suspended", "submit", "unpublish", "feature", "unfeature", "reinstate"],
  "public unpublished suspended unsubmitted": ["suspended", "submit", "republish", "feature", "unfeature", "reinstate"],
  "public unpublished suspended open": [
    "suspended",
    "withdraw",
    "approve",
    "reject",
    "republish",
    "feature",
    "unfeature",
    "reinstate",
  ],
  "public unpublished suspended approved": ["suspended", "submit", "republish", "feature", "unfeature", "reinstate"],
  "public unpublished suspended rejected": ["suspended", "submit", "republish", "feature", "unfeature", "reinstate"],
  "public unpublished suspended withdrawn": ["suspended", "submit", "republish", "feature", "unfeature", "reinstate"],
};

describe("the state of a listing", () => {
  test("is defined for all facts that the database allows, and for no others", () => {
    assert.deepEqual(everyFacts.map(nameOf).toSorted(), Object.keys(table).toSorted());
  });

  test("allows to suspend a suspended app again in order to pause its subscriptions", () => {
    const suspended = { publishedRevision: 1, review: null, isUnpublished: false, isSuspended: true };
    assert.equal(findRefusal({ ...suspended, startsToPause: true }, "suspend"), undefined);
    assert.equal(findRefusal({ ...suspended, startsToPause: false }, "suspend")?.code, "already-suspended");
    const isNew = { ...suspended, publishedRevision: null, isSuspended: false, startsToPause: true };
    assert.equal(findRefusal(isNew, "suspend")?.code, "not-published");
  });

  for (const facts of everyFacts) {
    const [status, ...allowed] = table[nameOf(facts)] ?? [];
    test(`${nameOf(facts)}: ${status}, allows ${allowed.join(", ")}`, () => {
      assert.equal(listingStatus(facts), status);
      assert.deepEqual(
        listingCommands.filter((command) => findRefusal(facts, command) === undefined),
        allowed,
      );
    });
  }
});
