import type { Provider } from "oidc-provider";
import { fhirBaseUrl, orgAliasOf } from "./fhir-servers.ts";

const wellKnown = "/.well-known/smart-configuration";

/** SMART App Launch 2.2, section "FHIR Authorization Endpoint and Capabilities Discovery". */
export function smartConfiguration(issuer: string): object {
  return {
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
    // An organisation grants what it has agreed to with the app's vendor.
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
  };
}

const noData = {
  resourceType: "OperationOutcome",
  issue: [
    { severity: "error", code: "not-supported", diagnostics: "The local stack signs apps in; it has no FHIR data." },
  ],
};

/** Serves the SMART configuration, the only endpoint of the local stack's FHIR servers. */
export function addFhirRoutes(provider: Provider): void {
  const { issuer } = provider;
  provider.use(async (context, next) => {
    const url = `${issuer}${context.path}`;
    if (!url.startsWith(fhirBaseUrl(issuer, ""))) {
      await next();
      return;
    }
    // Pages of any app read this first, to discover the other endpoints.
    context.set("access-control-allow-origin", "*");
    const alias = url.endsWith(wellKnown) ? orgAliasOf(issuer, url.slice(0, -wellKnown.length)) : undefined;
    const found = alias !== undefined && context.method === "GET";
    context.status = found ? 200 : 404;
    context.type = found ? "application/json" : "application/fhir+json";
    context.body = JSON.stringify(found ? smartConfiguration(issuer) : noData);
  });
}
