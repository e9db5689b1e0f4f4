import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { createClientMetadataParser } from "./parse-client-metadata.ts";

const slug = "northwind-scribe";
const production = createClientMetadataParser({ allowsHttp: false });
const development = createClientMetadataParser({ allowsHttp: true });

const privateNames = [
  "metadata.google.internal..",
  "kubernetes.default.svc",
  "printer.lan",
  "router.home",
  "router.home.arpa",
  "home.arpa",
  "x.corp",
  "wiki.intranet",
  "files.private.",
  "a..b.example",
  "a_b!.example",
];

describe("client metadata from the marketplace", () => {
  test("is accepted with the members that are known, in a fixed order", () => {
    const metadata = clientMetadataOf(slug);
    const reordered = Object.fromEntries(
      Object.entries({ ...metadata, sector_identifier_uri: "https://x.example" }).toReversed(),
    );
    const [parsed, again] = [production(metadata, slug), production(reordered, slug)];
    assert.ok(!("error" in parsed), JSON.stringify(parsed));
    assert.deepEqual(again, parsed);
    assert.deepEqual(JSON.parse(parsed.text), metadata);
    assert.equal(parsed.clientId, metadata["client_id"]);
    assert.match(parsed.sha256, /^[0-9a-f]{64}$/);
  });

  test("of a backend service has keys and no redirect URI", () => {
    const backend = clientMetadataOf(slug, {
      redirect_uris: [],
      response_types: [],
      grant_types: ["client_credentials"],
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: "https://app.example/jwks",
    });
    assert.ok(!("error" in production(backend, slug)));
  });

  for (const [what, changes] of [
    ["a wildcard", { redirect_uris: ["https://*.app.example/callback"] }],
    ["an encoded wildcard", { redirect_uris: ["https://%2A.app.example/callback"] }],
    ["an encoded wildcard in the path", { redirect_uris: ["https://app.example/%2a"] }],
    ["a wildcard of another script", { redirect_uris: ["https://\uff0a.app.example/callback"] }],
    ["a fragment", { redirect_uris: ["https://app.example/callback#"] }],
    ["user information", { redirect_uris: ["https://user:password@app.example/callback"] }],
    ["plain http", { redirect_uris: ["http://app.example/callback"] }],
    ["a loopback address", { redirect_uris: ["http://127.0.0.1:8083/callback"] }],
    ["a loopback address by https", { redirect_uris: ["https://127.0.0.1/callback"] }],
    ["a loopback name by https", { redirect_uris: ["https://localhost/callback"] }],
    ["another scheme", { redirect_uris: ["javascript:alert(1)"] }],
    ["no redirect URI", { redirect_uris: [] }],
    ["another app's client_id", { client_id: "https://marketplace.example/api/v1/apps/other-app/client" }],
    ["a draft's client_id", { client_id: `https://marketplace.example/api/v1/sandbox-apps/${slug}/client` }],
    ["a shared secret", { token_endpoint_auth_method: "client_secret_basic" }],
    ["keys that aren't there", { token_endpoint_auth_method: "private_key_jwt" }],
    ["keys by plain http", { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "http://app.example/jwks" }],
    ["keys at a private address", { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://10.1.2.3/jwks" }],
    [
      "keys at a private name",
      { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://keys.internal/jwks" },
    ],
    ...privateNames.map(
      (name) => [`the private name ${name}`, { redirect_uris: [`https://${name}/callback`] }] as const,
    ),
    ["a grant type of its own", { grant_types: ["implicit"] }],
    ["more than 5 KiB", { contacts: Array.from({ length: 20 }, () => `${"x".repeat(280)}@app.example`) }],
    ["no name", { client_name: "" }],
    ["a name of another type", { client_name: 7 }],
    ["half of a surrogate pair", { client_name: "\ud800" }],
    ["a scope that is too long", { scope: "x".repeat(6_000) }],
  ] as const) {
    test(`with ${what} is refused`, () => {
      assert.ok("error" in production(clientMetadataOf(slug, changes), slug));
    });
  }

  test("with a wildcard is refused in development, too", () => {
    for (const host of ["*.app.example", "%2A.app.example", "\uff0a.app.example"]) {
      const wildcard = clientMetadataOf(slug, { redirect_uris: [`https://${host}/callback`] });
      assert.ok("error" in development(wildcard, slug), host);
    }
  });

  test("with an international name, or one that ends with a dot, is accepted", () => {
    const redirect_uris = [
      "https://xn--bcher-kva.example/callback",
      "https://app.example./callback",
      "https://svc.example/",
    ];
    assert.ok(!("error" in production(clientMetadataOf(slug, { redirect_uris }), slug)));
  });

  test("with a loopback address is accepted in development", () => {
    const local = clientMetadataOf(slug, { redirect_uris: ["http://127.0.0.1:8083/callback"] });
    assert.ok(!("error" in development(local, slug)));
  });

  for (const value of [null, [], "text", 7, {}]) {
    test(`is not ${JSON.stringify(value)}`, () => assert.ok("error" in production(value, slug)));
  }
});
