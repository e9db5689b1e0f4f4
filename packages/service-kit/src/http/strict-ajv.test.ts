import assert from "node:assert/strict";
import { test } from "node:test";
import { createStrictAjv } from "./strict-ajv.ts";

test("every instance refuses an invalid schema", () => {
  for (const ajv of [createStrictAjv(), createStrictAjv({ allErrors: true })]) {
    assert.throws(() => ajv.compile({ type: "strng" }), /schema is invalid: data\/type/);
    assert.throws(() => ajv.addSchema({ $id: "Named", required: "id" }), /schema is invalid: data\/required/);
    assert.throws(() => ajv.compile({ type: "object", propertis: {} }), /unknown keyword: "propertis"/);
    assert.throws(() => ajv.compile({ type: "string", format: "uid" }), /unknown format "uid"/);
  }
});

test("accepts exactly the UUIDs that PostgreSQL accepts", () => {
  const isUuid = createStrictAjv().compile({ type: "string", format: "uuid" });
  assert.ok(isUuid("0192F0C1-2345-7abc-8def-0123456789ab"));
  for (const other of ["urn:uuid:0192f0c1-2345-7abc-8def-0123456789ab", "0192f0c123457abc8def0123456789ab", ""]) {
    assert.equal(isUuid(other), false, other);
  }
});
