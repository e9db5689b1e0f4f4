export { isPersona, type Persona, personaNames, personas } from "./personas.ts";
export { requestAccessToken } from "./request-access-token.ts";
export { choosePersona, openBrowser, type SignedIn, signIn } from "./sign-in.ts";
export { fhirBaseUrl, orgAliasOf } from "./smart/fhir-servers.ts";
export { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";
