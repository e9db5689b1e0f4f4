import type { Warnings } from "@ehr-marketplace/contracts";
import { checkTarget, type Refusal, type Resolve, unresolvedDetail } from "@ehr-marketplace/outbound-http";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { findUrlError } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";

const refusalTexts: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a host name that resolves to an address that is not public",
  "plain-http-not-allowed": "must begin with https://",
};

/** Throws when the URL can't be used. Returns what belongs to the response: a warning if the name doesn't resolve. */
export type UrlCheck = () => Warnings;

/**
 * Resolves the name before the transaction starts, so that no transaction waits for DNS. The returned function throws the error inside
 * it: a repeated request gets its first response whatever the name resolves to now, and a foreign endpoint is 404 first.
 */
export async function checkEndpointUrl(
  url: string,
  { allowedNetworks, resolve }: { allowedNetworks: readonly string[]; resolve: Resolve },
): Promise<UrlCheck> {
  const pointer = "/body/url";
  const urlError = findUrlError(url, allowedNetworks);
  const checked = urlError === undefined ? await checkTarget(url, allowedNetworks, resolve) : undefined;
  if (checked === "unresolved") return () => ({ warnings: [{ pointer, detail: unresolvedDetail }] });
  const refusal = checked === undefined ? urlError : refusalTexts[checked];
  return () => {
    if (refusal === undefined) return {};
    throw new Problem(endpointProblems.notAllowed, `${pointer} ${refusal}.`, {
      errors: [{ pointer, detail: refusal }],
    });
  };
}
