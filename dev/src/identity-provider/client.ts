// What a client of a running identity provider needs. It loads without the server, which takes a third of a second.
export { type Persona, personaNames } from "./personas.ts";
export { requestAccessToken } from "./request-access-token.ts";
export { signIn } from "./sign-in.ts";
