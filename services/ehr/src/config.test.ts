import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readConfig, variables } from "./config.ts";

const least = {
  DATABASE_URL: "postgres://service@127.0.0.1/ehr",
  TOKEN_ISSUER: "https://id.example",
  TOKEN_JWKS_URL: "https://id.example/jwks",
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
  MARKETPLACE_URL: "https://marketplace.example/api/v1/",
  FHIR_BASE_URL: "https://fhir.example/{orgAlias}",
};

const client = { MARKETPLACE_CLIENT_ID: "ehr", MARKETPLACE_CLIENT_SECRET: "secret" };

for (const missing of ["MARKETPLACE_CLIENT_ID", "MARKETPLACE_CLIENT_SECRET"] as const) {
  test(`rejects MARKETPLACE_TOKEN_URL without ${missing} at startup`, () => {
    const half = {
      ...least,
      ...client,
      NODE_ENV: "test",
      MARKETPLACE_TOKEN_URL: "https://id.example/token",
      [missing]: "",
    };
    assert.throws(() => readConfig(half), new RegExp(`${missing}: is missing, though MARKETPLACE_TOKEN_URL is set`));
  });
}

test("accepts plain http outside production", () => {
  const open = { ...least, ...client, NODE_ENV: "test", MARKETPLACE_TOKEN_URL: "http://127.0.0.1/token" };
  assert.equal(readConfig(open).marketplace.credentials?.plainHttp, true);
  const { fhirBaseUrl } = readConfig({ ...least, NODE_ENV: "development", FHIR_BASE_URL: "http://127.0.0.1/fhir" });
  assert.equal(fhirBaseUrl, "http://127.0.0.1/fhir");
});

test("has no credentials without MARKETPLACE_TOKEN_URL", () => {
  assert.equal(readConfig({ ...least, NODE_ENV: "test" }).marketplace.credentials, undefined);
});

test("removes trailing slashes from MARKETPLACE_URL", () => {
  assert.equal(readConfig({ ...least, NODE_ENV: "test" }).marketplace.url, "https://marketplace.example/api/v1");
});

test("apps with http URLs are for development only", () => {
  const production = { ...least, METRICS_TOKEN: "x".repeat(40), TRUSTED_PROXIES: "10.0.0.0/8" };
  assert.equal(readConfig(production).marketplace.allowsHttp, false);
  assert.equal(readConfig({ ...least, NODE_ENV: "development" }).marketplace.allowsHttp, true);
});

for (const given of ["fhir.example/{orgAlias}", "ftp://fhir.example", "https://", "javascript:alert(1)"]) {
  test(`rejects the FHIR_BASE_URL ${given} at startup`, () => {
    assert.throws(
      () => readConfig({ ...least, NODE_ENV: "test", FHIR_BASE_URL: given }),
      /FHIR_BASE_URL: ".*" is not a URL/,
    );
  });
}

test("a client for each organisation can't be a document of the marketplace", () => {
  const cimd = { ...least, NODE_ENV: "test", CLIENT_REGISTRATION: "cimd" };
  assert.equal(readConfig(cimd).clientRegistration.per, "app");
  assert.throws(
    () => readConfig({ ...cimd, CLIENT_REGISTRATION_PER: "organisation" }),
    /CLIENT_REGISTRATION_PER: can't be organisation with CLIENT_REGISTRATION=cimd/,
  );
});

test("clients are registered by operators, one for each app, unless it is configured", () => {
  const { method, per } = readConfig({ ...least, NODE_ENV: "test" }).clientRegistration;
  assert.deepEqual([method, per], ["manual", "app"]);
});

test("the README names every variable, and its default", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (\S+) +\|/gm)].map(([, name, value]) => [name, value]);
  const documented = rows.filter(([name]) => name !== "MIGRATION_DATABASE_URL");
  const expected = Object.entries(variables).map(([name, { default: value }]) => {
    if (value === undefined) return [name, "required"];
    const shown = JSON.stringify(value).replaceAll(/["[\]]/g, "");
    return [name, shown === "" ? "none" : `\`${shown}\``];
  });
  assert.deepEqual(new Map(documented as [string, string][]), new Map(expected as [string, string][]));
});
