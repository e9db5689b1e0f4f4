import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { freePort } from "./free-port.ts";

const fixture = new URL("./free-port.test-fixture.ts", import.meta.url);

test("two processes get 1,000 different ports, though nothing listens on them yet", async (t) => {
  const other = fork(fixture, ["500"]);
  t.after(() => other.kill());
  const [[others], own] = await Promise.all([
    once(other, "message") as Promise<[number[]]>,
    Promise.all(Array.from({ length: 500 }, () => freePort())),
  ]);
  assert.equal(new Set([...own, ...others]).size, 1_000);
});
