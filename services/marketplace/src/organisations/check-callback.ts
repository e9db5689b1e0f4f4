import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Resolve } from "../webhooks/delivery/send/admitted-addresses.ts";
import { type Refusal, whyRefused } from "../webhooks/delivery/send/why-refused.ts";
import { httpsOnly, whyNoCallback } from "./organisation.ts";
import { organisationProblems } from "./organisation-errors.ts";

const inWords: Record<Refusal, string> = {
  "url-invalid": "is not a URL that can be connected to",
  "address-not-allowed": "has a name with an address that is neither public nor in callbackNetworks",
  "plain-http-not-allowed": httpsOnly,
};

/** Waits for name servers: nothing for a transaction. */
export async function requireUsableCallback(
  callbackUrl: string | null,
  networks: readonly string[],
  resolve: Resolve,
): Promise<void> {
  if (callbackUrl === null) return;
  const unfit = whyNoCallback(callbackUrl, networks);
  const refused = unfit === undefined ? await whyRefused(callbackUrl, networks, resolve) : undefined;
  const refusal = refused === undefined ? unfit : inWords[refused];
  if (refusal === undefined) return;
  const errors = [{ pointer: "/body/callbackUrl", detail: refusal }];
  throw new Problem(organisationProblems.callbackNotAllowed, `/body/callbackUrl ${refusal}.`, { errors });
}
