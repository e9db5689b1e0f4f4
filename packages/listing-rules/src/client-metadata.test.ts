import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ClientMetadata, clientMetadata, type ListingDraft } from "@ehr-marketplace/contracts";
import { buildClientMetadata, type ClientDraft, measureClientMetadata } from "./client-metadata.ts";

const clientId = "https://marketplace.example/api/v1/apps/quill/client";
const appId = "01890a5d-ac96-774b-bcce-b302099a8057";
const logoUri = "https://marketplace.example/media/icon";
const redirectUris = ["https://quill.example/back"];
const jwksUri = "https://quill.example/jwks.json";
const build = (draft: ClientDraft): ClientMetadata | undefined =>
  buildClientMetadata({ draft, clientId, appId, logoUri });
const grantsOf = (draft: ClientDraft): string[] | undefined => build(draft)?.grant_types;

describe("the client of an app", () => {
  test("has all that its draft says, under the names of RFC 7591, and nothing else", () => {
    const draft: ListingDraft = {
      name: "Quill",
      version: "1.0.0",
      summary: "Not of the client",
      audience: "CLINICIAN",
      fhirScopes: "launch openid online_access patient/Observation.rs",
      oauth: { type: "ASYMMETRIC", redirectUris, jwksUri, contacts: ["oauth@quill.example"] },
      websiteUrl: "https://quill.example",
      supportUrl: "https://quill.example/help",
      privacyPolicyUrl: "https://quill.example/privacy",
      termsUrl: "https://quill.example/terms",
      reviewNotes: "Not public",
    };
    const metadata = build(draft);
    assert.deepEqual(metadata, {
      client_id: clientId,
      client_name: "Quill",
      client_uri: "https://quill.example",
      logo_uri: logoUri,
      policy_uri: "https://quill.example/privacy",
      tos_uri: "https://quill.example/terms",
      contacts: ["oauth@quill.example"],
      redirect_uris: redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: jwksUri,
      scope: "launch openid online_access patient/Observation.rs",
      software_id: appId,
      software_version: "1.0.0",
    });
    assert.deepEqual(Object.keys(metadata ?? {}), Object.keys(clientMetadata.properties));
  });

  test("has no member without a value, and a public one has no keys", () => {
    assert.deepEqual(build({ name: "Quill", oauth: { type: "PUBLIC", redirectUris, jwksUri, contacts: [] } }), {
      client_id: clientId,
      client_name: "Quill",
      logo_uri: logoUri,
      redirect_uris: redirectUris,
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "",
      software_id: appId,
    });
  });

  test("of a backend service has no redirect URIs and no response types", () => {
    const oauth = { type: "ASYMMETRIC", jwksUri } as const;
    const { redirect_uris, grant_types, response_types } = build({ audience: "BACKEND", oauth }) ?? assert.fail();
    assert.deepEqual([redirect_uris, grant_types, response_types], [[], ["client_credentials"], []]);
  });

  test("has the grants that the draft names, each once, or those that follow from it", () => {
    const oauth = { type: "ASYMMETRIC", redirectUris, jwksUri } as const;
    const grantTypes = ["client_credentials", "authorization_code", "client_credentials", "password"];
    assert.deepEqual(grantsOf({ oauth: { ...oauth, grantTypes } }), ["authorization_code", "client_credentials"]);
    assert.deepEqual(grantsOf({ oauth, fhirScopes: "launch offline_access" }), ["authorization_code", "refresh_token"]);
    assert.deepEqual(grantsOf({ oauth, fhirScopes: "launch offline_access_x" }), ["authorization_code"]);
    assert.deepEqual(grantsOf({ oauth: { type: "PUBLIC", redirectUris }, audience: "BACKEND" }), [
      "authorization_code",
    ]);
  });

  test("doesn't exist if the draft doesn't say how the app signs in", () => {
    const drafts: ClientDraft[] = [
      { name: "Quill" },
      { oauth: {} },
      { oauth: { type: "PUBLIC" } },
      { oauth: { type: "PUBLIC" }, audience: "BACKEND" },
      { oauth: { type: "ASYMMETRIC", jwksUri } },
      { oauth: { type: "PUBLIC", redirectUris, grantTypes: ["password"] } },
    ];
    for (const draft of drafts) assert.equal(build(draft), undefined, JSON.stringify(draft));
  });

  test("is measured in bytes", () => {
    const measure = (name: string): number =>
      measureClientMetadata(build({ name, oauth: { type: "PUBLIC", redirectUris } }) ?? assert.fail());
    assert.equal(measure("é") - measure("e"), 1);
  });
});
