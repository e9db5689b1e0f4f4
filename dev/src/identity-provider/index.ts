export { isPersona, type Persona, personaNames, personas } from "./personas.ts";
export { type SignedIn, signIn } from "./sign-in.ts";
export { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";
