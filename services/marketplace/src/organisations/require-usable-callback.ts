import type { Warnings } from "@ehr-marketplace/contracts";
import { checkTarget, type Refusal, type Resolve, unresolvedDetail } from "@ehr-marketplace/outbound-http";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { findCallbackError, httpsOnly } from "./organisation.ts";
import { organisationProblems } from "./organisation-errors.ts";

const refusalDetails: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a name with an address that is neither public nor in callbackNetworks",
  "plain-http-not-allowed": httpsOnly,
};

/**
 * Returns what belongs to the response: a warning if the name doesn't resolve. Resolves names, which may take seconds: call it outside a
 * transaction.
 */
export async function requireUsableCallback(
  callbackUrl: string | null,
  networks: readonly string[],
  resolve: Resolve,
): Promise<Warnings> {
  if (callbackUrl === null) return {};
  const pointer = "/body/callbackUrl";
  const urlError = findCallbackError(callbackUrl, networks);
  const checked = urlError === undefined ? await checkTarget(callbackUrl, networks, resolve) : undefined;
  if (checked === "unresolved") return { warnings: [{ pointer, detail: unresolvedDetail }] };
  const refusal = checked === undefined ? urlError : refusalDetails[checked];
  if (refusal === undefined) return {};
  const errors = [{ pointer, detail: refusal }];
  throw new Problem(organisationProblems.callbackNotAllowed, `${pointer} ${refusal}.`, { errors });
}
