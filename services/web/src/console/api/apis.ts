import { createApiClient } from "@ehr-marketplace/client";
import type { Operations as EhrOperations } from "@ehr-marketplace/client/ehr";
import type { Operations as MarketplaceOperations } from "@ehr-marketplace/client/marketplace";
import { personHeaders, reportOtherPerson } from "./session-person.ts";
import { waitForSignIn } from "./sign-in-gate.ts";

/** The web forwards requests of our own pages only: other sites can't send this header. */
export const headers = { "x-requested-with": "ehr-marketplace" };

/** The code of a problem, of the statuses that the session's problems have. */
async function findSessionProblem(response: Response): Promise<unknown> {
  if (response.status !== 401 && response.status !== 409) return undefined;
  const problem = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { code?: unknown };
  return problem.code;
}

/**
 * Sends a request in the name of who has loaded the page. If the session has ended, it waits for the sign-in and sends the same request
 * again, so that nothing is lost. If somebody else has signed in, nothing is sent on.
 */
async function fetchInSession(request: Request): Promise<Response> {
  for (const [name, value] of Object.entries(personHeaders())) request.headers.set(name, value);
  for (;;) {
    const response = await fetch(request.clone());
    const code = await findSessionProblem(response);
    if (code === "session-changed") reportOtherPerson();
    if (code !== "session-required" || !(await waitForSignIn())) return response;
  }
}

export const marketplace = createApiClient<MarketplaceOperations>({
  baseUrl: "/bff/marketplace",
  headers,
  fetch: fetchInSession,
});

export const ehr = createApiClient<EhrOperations>({ baseUrl: "/bff/ehr", headers, fetch: fetchInSession });
