import type { Resolve } from "@ehr-marketplace/outbound-http";
import { findRefusal, type Refusal } from "@ehr-marketplace/outbound-http";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { findUrlError } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";

const refusalTexts: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a host name that resolves to an address that is not public",
  "plain-http-not-allowed": "must begin with https://",
};

/** Throws when the URL can't be used. */
export type UrlCheck = () => void;

/**
 * Resolves the name before the transaction starts, so that no transaction waits for DNS. The returned function throws the error inside
 * it: a repeated request gets its first response whatever the name resolves to now, and a foreign endpoint is 404 first.
 */
export async function checkEndpointUrl(
  url: string,
  { allowedNetworks, resolve }: { allowedNetworks: readonly string[]; resolve: Resolve },
): Promise<UrlCheck> {
  const urlError = findUrlError(url, allowedNetworks);
  const refused = urlError === undefined ? await findRefusal(url, allowedNetworks, resolve) : undefined;
  const refusal = refused === undefined ? urlError : refusalTexts[refused];
  return () => {
    if (refusal === undefined) return;
    const errors = [{ pointer: "/body/url", detail: refusal }];
    throw new Problem(endpointProblems.notAllowed, `/body/url ${refusal}.`, { errors });
  };
}
