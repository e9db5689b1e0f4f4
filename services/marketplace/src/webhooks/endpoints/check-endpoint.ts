import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Resolve } from "../delivery/send/admitted-addresses.ts";
import { type Refusal, whyRefused } from "../delivery/send/why-refused.ts";
import { whyNoEndpoint } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";

const inWords: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a name with an address that is not public",
  "plain-http-not-allowed": "must begin with https://",
};

/** Throws where the URL can't be used. */
export type UrlCheck = () => void;

/**
 * Waits for name servers, so that no transaction has to. What it has found is thrown later, inside: a repeated request
 * gets its first answer whatever has become of the name, and nobody learns more about an endpoint that isn't theirs.
 */
export async function checkUrl(
  url: string,
  { allowedNetworks, resolve }: { allowedNetworks: readonly string[]; resolve: Resolve },
): Promise<UrlCheck> {
  const unfit = whyNoEndpoint(url, allowedNetworks);
  const refused = unfit === undefined ? await whyRefused(url, allowedNetworks, resolve) : undefined;
  const refusal = refused === undefined ? unfit : inWords[refused];
  return () => {
    if (refusal === undefined) return;
    const errors = [{ pointer: "/body/url", detail: refusal }];
    throw new Problem(endpointProblems.notAllowed, `/body/url ${refusal}.`, { errors });
  };
}
