import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readConfig, variables } from "./config.ts";

const least = {
  NODE_ENV: "test",
  DATABASE_URL: "postgres://service@127.0.0.1/web",
  PUBLIC_URL: "http://127.0.0.1:8090",
  MARKETPLACE_URL: "http://127.0.0.1:8080/api/v1/",
  EHR_URL: "http://127.0.0.1:8081/api/",
  TOKEN_ISSUER: "http://127.0.0.1:8082",
  TOKEN_JWKS_URL: "http://127.0.0.1:8082/jwks",
  OIDC_CLIENT_ID: "web",
  OIDC_CLIENT_SECRET: "secret",
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
};

test("accepts plain http outside production", () => {
  const { isSecure, identityProvider } = readConfig(least);
  assert.deepEqual([isSecure, identityProvider.plainHttp], [false, true]);
});

test("cookies need TLS if PUBLIC_URL begins with https, in any environment", () => {
  assert.equal(readConfig({ ...least, PUBLIC_URL: "https://apps.example" }).isSecure, true);
});

test("the identity provider leads back to PUBLIC_URL, with or without a slash at its end", () => {
  for (const publicUrl of ["https://apps.example", "https://apps.example/"]) {
    const { redirectUri, homeUrl } = readConfig({ ...least, PUBLIC_URL: publicUrl }).identityProvider;
    assert.deepEqual([redirectUri, homeUrl], ["https://apps.example/callback", "https://apps.example/"]);
  }
});

for (const given of ["https://apps.example/web", "https://apps.example/?a=b", "https://user@apps.example"]) {
  test(`rejects the PUBLIC_URL ${given} at startup`, () => {
    assert.throws(() => readConfig({ ...least, PUBLIC_URL: given }), /PUBLIC_URL: ".*" has more than scheme, host/);
  });
}

test("removes trailing slashes from the APIs' URLs", () => {
  assert.deepEqual(readConfig(least).upstreams, {
    marketplace: "http://127.0.0.1:8080/api/v1",
    ehr: "http://127.0.0.1:8081/api",
  });
});

test("the README names every variable, and its default", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm)].map(([, name, value]) => [name, value]);
  const documented = rows.filter(([name]) => name !== "MIGRATION_DATABASE_URL");
  const expected = Object.entries(variables).map(([name, { default: value }]) => {
    if (value === undefined) return [name, "required"];
    const shown = JSON.stringify(value).replaceAll(/["[\]]/g, "");
    return [name, shown === "" ? "none" : `\`${shown}\``];
  });
  assert.deepEqual(new Map(documented as [string, string][]), new Map(expected as [string, string][]));
});
