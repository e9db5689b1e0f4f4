import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import { isUsableSecret } from "../../organisations/organisation.ts";
import { whyNoEndpoint } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";

export function requireUsableUrl(url: string, allowedNetworks: readonly string[]): void {
  const refusal = whyNoEndpoint(url, allowedNetworks);
  if (refusal === undefined) return;
  const errors = [{ pointer: "/body/url", detail: refusal }];
  throw new Problem(endpointProblems.notAllowed, `/body/url ${refusal}.`, { errors });
}

export function requireUsableSecret(secret: string): void {
  if (isUsableSecret(secret)) return;
  throw invalidRequest("/body/secret", "begins with whsec_, but what follows is not Base64 of 16 bytes or more");
}
