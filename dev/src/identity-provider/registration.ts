import { parseScope, splitScopes } from "@ehr-marketplace/listing-rules/scopes";
import { type Configuration, errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import { registrationToken } from "./clients.ts";

type Metadata = NonNullable<Configuration["extraClientMetadata"]>;
type Validator = NonNullable<Metadata["validator"]>;

const maxScopeLength = 40_000;
const maxSoftwareLength = 256;
const registrationRoutes = new Set(["registration", "client", "client_update"]);

/** Clients are registered by RFC 7591, and changed and deleted by RFC 7592 with a token that each change replaces. */
export const registrationFeatures = {
  registration: { enabled: true, initialAccessToken: registrationToken },
  registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
};

function refuse(reason: string): never {
  throw new errors.InvalidClientMetadata(reason);
}

const validate: Validator = (context, key, value, metadata) => {
  // The library accepts only scopes that it knows by name, and those of SMART are too many to list.
  if (key === "smart_scope") {
    const { scope = value } = metadata;
    if (scope === undefined) return;
    const isKnown = (text: string): boolean => parseScope(text) !== undefined;
    const isValid = typeof scope === "string" && scope.length <= maxScopeLength && splitScopes(scope).every(isKnown);
    if (!isValid) refuse("scope must only contain scopes of SMART App Launch");
    metadata["smart_scope"] = scope;
    delete metadata.scope;
  } else if (value !== undefined && (typeof value !== "string" || value.length > maxSoftwareLength)) {
    refuse(`${key} must be a string of at most ${maxSoftwareLength} characters`);
  }
  const isRegistered = context !== undefined;
  if (isRegistered && !["none", "private_key_jwt"].includes(metadata.token_endpoint_auth_method ?? "")) {
    refuse("token_endpoint_auth_method must be none or private_key_jwt: clients have no shared secrets");
  }
  if (isRegistered && metadata.application_type !== "web") refuse("application_type must be web");
};

/** What RFC 7591 has and the library doesn't know, besides `smart_scope`, which is the metadata's `scope`. */
export const extraClientMetadata: Metadata = {
  properties: ["smart_scope", "software_id", "software_version"],
  validator: validate,
};

/** Returns the registered `scope` under its own name. */
export function addRegisteredScope(provider: Provider): void {
  provider.use(async (context, next) => {
    await next();
    const { oidc } = context as Partial<KoaContextWithOIDC>;
    if (oidc === undefined || !registrationRoutes.has(oidc.route) || context.status >= 300) return;
    const { smart_scope: scope, ...metadata } = context.body as Record<string, unknown>;
    context.body = { ...metadata, ...(scope === undefined ? {} : { scope }) };
  });
}
