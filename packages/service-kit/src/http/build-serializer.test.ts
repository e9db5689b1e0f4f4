import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { buildSerializer } from "./build-serializer.ts";

const shared = {
  Problem: {
    $id: "Problem",
    type: "object",
    properties: { code: { type: "string" }, causes: { type: "array", items: { $ref: "Cause#" } } },
  },
  Cause: { $id: "Cause", type: "object", properties: { field: { type: "string" }, inner: { $ref: "Cause#" } } },
  Broken: { $id: "Broken", type: "object", properties: { other: { $ref: "Missing#" } } },
};

const routeOf = (schema: unknown, url = "/") => ({ method: "GET", url, httpStatus: "200", schema });

describe("the serializer of a response", () => {
  test("is compiled once for all routes of a scope with the same schema", () => {
    const compile = buildSerializer(shared);
    assert.equal(compile(routeOf({ $ref: "Problem#" }, "/a")), compile(routeOf({ $ref: "Problem#" }, "/b")));
    assert.notEqual(compile(routeOf({ $ref: "Problem#" })), compile(routeOf({ $ref: "Cause#" })));
  });

  test("writes shared schemas that refer to others and to themselves, and nothing that they don't name", () => {
    const serialize = buildSerializer(shared)(routeOf({ $ref: "Problem#" }));
    const causes = [{ field: "a", inner: { field: "b", secret: 1 } }];
    assert.equal(
      serialize({ code: "x", causes, secret: 1 }),
      '{"code":"x","causes":[{"field":"a","inner":{"field":"b"}}]}',
    );
  });

  test("writes schemas without shared ones", () => {
    const serialize = buildSerializer({})(routeOf({ type: "object", properties: { a: { type: "integer" } } }));
    assert.equal(serialize({ a: 1, b: 2 }), '{"a":1}');
  });

  test("isn't built if a schema that it needs is missing, directly or through another one", () => {
    const compile = buildSerializer(shared);
    assert.throws(() => compile(routeOf({ $ref: "Missing#" })), /Missing#/);
    assert.throws(() => compile(routeOf({ $ref: "Broken#" })), /Missing#/);
  });
});
