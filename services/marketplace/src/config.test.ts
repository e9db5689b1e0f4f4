import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { readConfig, readMigrationConfig } from "./config.ts";

const least = { DATABASE_URL: "postgres://service@127.0.0.1/marketplace" };

test("production is assumed, and doesn't start without a token for its metrics", () => {
  assert.throws(() => readConfig(least), /METRICS_TOKEN: is not set, and production needs it/);
  assert.equal(readConfig({ ...least, METRICS_TOKEN: "long" }).metricsToken, "long");
  assert.equal(readConfig({ ...least, NODE_ENV: "development" }).metricsToken, undefined);
});

test("the defaults are those that the documents name", () => {
  const config = readConfig({ ...least, NODE_ENV: "test" });
  assert.equal(config.port, 8080);
  assert.equal(config.publicRequestsPerMinute, 6_000);
  assert.deepEqual(config.limits, { requestMs: 10_000, bodyBytes: 1_048_576, urlBytes: 8_192, eventLoopDelayMs: 200 });
  assert.deepEqual(config.catalogCache, { lifetimeMs: 60_000, maxBytes: 64 * 1_048_576 });
});

test("an answer is never kept for longer than a minute", () => {
  assert.throws(() => readConfig({ ...least, NODE_ENV: "test", CATALOG_CACHE_SECONDS: "61" }), ConfigurationError);
});

test("a proxy that is no address keeps the process from starting, and says so", () => {
  assert.throws(
    () => readConfig({ ...least, NODE_ENV: "test", TRUSTED_PROXIES: "10.0.0.0/8, ingress" }),
    /TRUSTED_PROXIES: "ingress" is neither an IP address nor a network/,
  );
});

test("the migration step asks for its own login", () => {
  assert.throws(() => readMigrationConfig(least), /MIGRATION_DATABASE_URL: is not set/);
});
