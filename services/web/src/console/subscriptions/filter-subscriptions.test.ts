import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { texts } from "../texts.ts";
import { filterSubscriptions, whyEmpty } from "./filter-subscriptions.ts";

const listed = [
  { appSlug: "northwind-scribe", status: "active" },
  { appSlug: "lumen-schedule", status: "paused" },
  { appSlug: "cafe-diet", status: "cancelled" },
] as const;

describe("filtering subscriptions", () => {
  for (const [filters, slugs] of [
    [{}, ["northwind-scribe", "lumen-schedule"]],
    [{ status: "all" }, ["northwind-scribe", "lumen-schedule", "cafe-diet"]],
    [{ status: "cancelled" }, ["cafe-diet"]],
    [{ q: "SCRIBE north" }, ["northwind-scribe"]],
    [{ q: "café", status: "all" }, ["cafe-diet"]],
    [{ q: "nothing" }, []],
  ] as const) {
    test(`${JSON.stringify(filters)} shows ${slugs.join(", ") || "none"}`, () => {
      assert.deepEqual(
        filterSubscriptions([...listed], filters).map(({ appSlug }) => appSlug),
        slugs,
      );
    });
  }
});

describe("a list without rows", () => {
  const cancelled = listed.filter(({ status }) => status === "cancelled");

  test("says that no subscription is in force if all are cancelled and nothing is filtered", () => {
    assert.equal(whyEmpty(cancelled, {}), "noneLive");
    assert.equal(texts.subscriptions.noneLive, "No subscription is in force");
    assert.equal(whyEmpty(cancelled, { status: "cancelled" }), undefined);
  });

  test("says that nothing matches if something is filtered, and that there are none if there are none", () => {
    assert.equal(whyEmpty(cancelled, { q: "scribe" }), "noMatch");
    assert.equal(whyEmpty(cancelled, { status: "paused" }), "noMatch");
    assert.equal(whyEmpty([], { q: "scribe" }), "none");
  });

  test("isn't one with rows", () => {
    assert.equal(whyEmpty(listed, {}), undefined);
  });
});
