import assert from "node:assert/strict";
import { test } from "node:test";
import { createIdempotencyKeys } from "./idempotency-keys.ts";

function countKeys(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `key ${count}`;
  };
}

test("attempts with the same body have the same key, and another body has another one", () => {
  const keys = createIdempotencyKeys(countKeys());
  assert.equal(keys.keyFor({ plan: "a" }), "key 1");
  assert.equal(keys.keyFor({ plan: "a" }), "key 1");
  assert.equal(keys.keyFor({ plan: "b" }), "key 2");
  assert.equal(keys.keyFor(undefined), "key 3");
  assert.equal(keys.keyFor(undefined), "key 3");
});

test("after a success, the same body has a new key", () => {
  const keys = createIdempotencyKeys(countKeys());
  assert.equal(keys.keyFor({}), "key 1");
  keys.forget();
  assert.equal(keys.keyFor({}), "key 2");
});
