import assert from "node:assert/strict";
import { test } from "node:test";
import { describeServer } from "./describe-server.ts";

for (const [url, described] of [
  ["postgres://admin:hunter2@db.internal:6432/postgres?application_name=hunter2", "db.internal:6432/postgres"],
  ["postgres://admin@127.0.0.1/marketplace", "127.0.0.1:5432/marketplace"],
  ["postgres://admin:hunter2@/postgres?host=/var/run/postgresql", "/var/run/postgresql:5432/postgres"],
] as const) {
  test(`names the server without credentials: ${described}`, () => {
    assert.equal(describeServer(url), described);
  });
}
