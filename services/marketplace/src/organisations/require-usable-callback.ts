import type { Resolve } from "@ehr-marketplace/outbound-http";
import { findRefusal, type Refusal } from "@ehr-marketplace/outbound-http";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { findCallbackError, httpsOnly } from "./organisation.ts";
import { organisationProblems } from "./organisation-errors.ts";

const refusalDetails: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a name with an address that is neither public nor in callbackNetworks",
  "plain-http-not-allowed": httpsOnly,
};

/** Resolves names, which may take seconds: call it outside a transaction. */
export async function requireUsableCallback(
  callbackUrl: string | null,
  networks: readonly string[],
  resolve: Resolve,
): Promise<void> {
  if (callbackUrl === null) return;
  const urlError = findCallbackError(callbackUrl, networks);
  const refused = urlError === undefined ? await findRefusal(callbackUrl, networks, resolve) : undefined;
  const refusal = refused === undefined ? urlError : refusalDetails[refused];
  if (refusal === undefined) return;
  const errors = [{ pointer: "/body/callbackUrl", detail: refusal }];
  throw new Problem(organisationProblems.callbackNotAllowed, `/body/callbackUrl ${refusal}.`, { errors });
}
