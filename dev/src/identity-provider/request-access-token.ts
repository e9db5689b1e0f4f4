import { developmentSecret } from "./clients.ts";
import type { Persona } from "./personas.ts";

/** Requests a token by client credentials, with the persona's own client. */
export async function requestAccessToken(issuer: string, persona: Persona): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${persona}:${developmentSecret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  }).catch((cause: unknown) => {
    throw new Error(
      `The stack is not running: there is no identity provider at ${issuer}.\nStart it: npm run dev\nIf it uses another port, set IDP_PORT here as well.`,
      { cause },
    );
  });
  const body = (await response.json().catch(() => ({}))) as { access_token?: string; error?: string };
  if (body.access_token === undefined) {
    const reason = body.error ?? "another program may be using the port";
    throw new Error(`${issuer} returned no token for ${persona}, but status ${response.status}: ${reason}`);
  }
  return body.access_token;
}
