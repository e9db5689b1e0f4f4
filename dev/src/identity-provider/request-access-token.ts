import { developmentSecret } from "./clients.ts";
import type { Persona } from "./personas.ts";

/** Asks for a token as a service does: by the persona's own client, with its secret. */
export async function requestAccessToken(issuer: string, persona: Persona): Promise<string> {
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${persona}:${developmentSecret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  }).catch((cause: unknown) => {
    throw new Error(
      `The stack is not running: no identity provider answers at ${issuer}.\nStart it: npm run dev\nDoes it use another port? Then set IDP_PORT here as well.`,
      { cause },
    );
  });
  const said = (await answer.json().catch(() => ({}))) as { access_token?: string; error?: string };
  if (said.access_token === undefined) {
    const reason = said.error ?? "is that another program?";
    throw new Error(`${issuer} gave no token for ${persona}, but answered ${answer.status}: ${reason}`);
  }
  return said.access_token;
}
