import { Problem } from "@ehr-marketplace/service-kit/http";
import { whyNoEndpoint } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";

export function requireUsableUrl(url: string, allowedNetworks: readonly string[]): void {
  const refusal = whyNoEndpoint(url, allowedNetworks);
  if (refusal === undefined) return;
  const errors = [{ pointer: "/body/url", detail: refusal }];
  throw new Problem(endpointProblems.notAllowed, `/body/url ${refusal}.`, { errors });
}
