import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { readConfig } from "./config.ts";

const least = {
  DATABASE_URL: "postgres://service@127.0.0.1/marketplace",
  TOKEN_ISSUER: "https://id.example",
  TOKEN_JWKS_URL: "https://id.example/jwks",
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
  PUBLIC_URL: "https://marketplace.example/",
  MEDIA_DIRECTORY: "/media",
};

test("the first of several encryption keys encrypts", () => {
  const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
  const config = readConfig({ ...least, NODE_ENV: "test", ENCRYPTION_KEYS: `10:${key(10)}, 1:${key(1)}, 2:${key(2)}` });
  assert.equal(config.encryptionKeys.current, 10);
  assert.deepEqual([...config.encryptionKeys.byVersion.keys()], [10, 1, 2]);
});

for (const [what, given] of [
  ["too short", "1:c2hvcnQ="],
  ["without a version", Buffer.alloc(32).toString("base64")],
  ["given twice", `1:${Buffer.alloc(32).toString("base64")},1:${Buffer.alloc(32).toString("base64")}`],
] as const) {
  test(`rejects an encryption key that is ${what}, without showing it`, () => {
    assert.throws(
      () => readConfig({ ...least, NODE_ENV: "test", ENCRYPTION_KEYS: given }),
      (error: Error) => /ENCRYPTION_KEYS: /.test(error.message) && !error.message.includes(given),
    );
  });
}

for (const [given, reason] of [
  [
    "https://console.example/app",
    "is not an origin, which has only scheme, host and port: write https://console.example",
  ],
  ["http://localhost:7000/", "is not an origin, which has only scheme, host and port: write http://localhost:7000"],
  [
    "https://console.example:443",
    "is not an origin, which has only scheme, host and port: write https://console.example",
  ],
  ["localhost:7000", "is not an origin: it must begin with https:// or http://"],
  ["*", "is not an origin: list each origin whose pages may call"],
  ["https://", "is not an origin such as https://console.example.com"],
] as const) {
  test(`rejects the origin ${given}, and says what to change`, () => {
    assert.throws(
      () => readConfig({ ...least, NODE_ENV: "test", ALLOWED_ORIGINS: `https://fine.example, ${given}` }),
      (error: Error) => error.message.includes(`ALLOWED_ORIGINS: "${given}" ${reason}. `),
    );
  });
}

test("the defaults are the documented ones", () => {
  const config = readConfig({ ...least, NODE_ENV: "test" });
  assert.equal(config.port, 8080);
  assert.equal(config.allowsHttp, true);
  assert.equal(config.publicRequestsPerMinute, 6_000);
  assert.equal(config.callerRequestsPerMinute, 1_200);
  assert.ok(config.callerRequestsAtOnce < config.database.poolSize / 2);
  assert.equal(config.usageRequestsPerMinute, 12_000);
  assert.equal(config.tokens.audience, "marketplace");
  assert.deepEqual(config.tokens.claims, { organisation: "organization", vendor: "vendor", roles: "roles" });
  assert.deepEqual(config.limits, { requestMs: 10_000, urlBytes: 8_192, eventLoopDelayMs: 200 });
  assert.deepEqual(config.catalogCache, { lifetimeMs: 60_000, maxBytes: 64 * 1_048_576 });
});

test("media is in the folder, or in the bucket if there is one", () => {
  const read = (given: Record<string, string>) => readConfig({ ...least, NODE_ENV: "test", ...given });
  assert.deepEqual(read({}).media, { directory: "/media" });
  assert.equal(read({}).publicUrl, "https://marketplace.example");
  const bucket = { MEDIA_BUCKET: "files", MEDIA_DIRECTORY: "" };
  const ofAws = { bucket: "files", endpoint: undefined, region: "us-east-1", credentials: undefined };
  assert.deepEqual(read(bucket).media, ofAws);
  const keys = { MEDIA_ACCESS_KEY_ID: "id", MEDIA_SECRET_ACCESS_KEY: "hunter2" };
  assert.deepEqual(read({ ...bucket, ...keys, MEDIA_ENDPOINT: "http://127.0.0.1:7070", MEDIA_REGION: "eu" }).media, {
    bucket: "files",
    endpoint: "http://127.0.0.1:7070",
    region: "eu",
    credentials: { accessKeyId: "id", secretAccessKey: "hunter2" },
  });
  assert.throws(() => read({ MEDIA_DIRECTORY: "" }), /MEDIA_DIRECTORY: is required/);
  assert.throws(() => read({ ...bucket, MEDIA_ACCESS_KEY_ID: "id" }), /MEDIA_SECRET_ACCESS_KEY: is required with/);
  assert.throws(() => read({ ...bucket, MEDIA_SECRET_ACCESS_KEY: "hunter2" }), /MEDIA_ACCESS_KEY_ID: is required with/);
});

test("rejects a catalog cache of more than a minute", () => {
  assert.throws(() => readConfig({ ...least, NODE_ENV: "test", CATALOG_CACHE_SECONDS: "61" }), ConfigurationError);
});

test("rejects a proxy that is not an address, and names it", () => {
  assert.throws(
    () => readConfig({ ...least, NODE_ENV: "test", TRUSTED_PROXIES: "10.0.0.0/8, ingress" }),
    /TRUSTED_PROXIES: "ingress" is neither an IP address nor a network/,
  );
});
