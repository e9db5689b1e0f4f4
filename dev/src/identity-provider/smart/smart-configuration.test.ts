import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { startIdentityProvider } from "../start-identity-provider.ts";

describe("a FHIR server of the local stack", () => {
  const cleanUp = cleanUpAfter();
  let issuer: string;
  before(async () => {
    const identityProvider = await startIdentityProvider({ port: 0 });
    cleanUp(() => identityProvider.stop());
    issuer = identityProvider.issuer;
  });

  test("publishes the SMART configuration to any origin, as SMART App Launch 2.2 defines it", async () => {
    const response = await fetch(`${issuer}/fhir/riverside-clinic/.well-known/smart-configuration`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    assert.deepEqual(await response.json(), {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/reg`,
      grant_types_supported: ["authorization_code", "client_credentials"],
      response_types_supported: ["code"],
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      token_endpoint_auth_signing_alg_values_supported: ["ES384", "RS384"],
      code_challenge_methods_supported: ["S256"],
      scopes_supported: [
        "launch",
        "openid",
        "fhirUser",
        "online_access",
        "offline_access",
        "patient/*.cruds",
        "user/*.cruds",
        "system/*.cruds",
      ],
      capabilities: [
        "launch-ehr",
        "client-public",
        "client-confidential-asymmetric",
        "sso-openid-connect",
        "context-banner",
        "context-ehr-patient",
        "context-ehr-encounter",
        "permission-offline",
        "permission-online",
        "permission-patient",
        "permission-user",
        "permission-v1",
        "permission-v2",
      ],
    });
  });

  test("returns an OperationOutcome for everything else", async () => {
    for (const path of [
      "riverside-clinic/Patient/1",
      "riverside-clinic/metadata",
      "-/.well-known/smart-configuration",
    ]) {
      const response = await fetch(`${issuer}/fhir/${path}`);
      assert.equal(response.status, 404, path);
      assert.match(response.headers.get("content-type") ?? "", /^application\/fhir\+json/);
      assert.equal(((await response.json()) as { resourceType: string }).resourceType, "OperationOutcome");
    }
  });
});
