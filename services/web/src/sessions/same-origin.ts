import { Problem } from "@ehr-marketplace/service-kit/http";
import type { FastifyRequest } from "fastify";
import { webProblems } from "../web-problems.ts";

/** A page of another origin can't set it without asking first, which no route here allows. */
export const requestedWith = "ehr-marketplace";

const refusal = (detail: string): Problem => new Problem(webProblems.crossOrigin, detail);

/**
 * Refuses requests that another site's page caused. Browsers say where a request comes from, by `Sec-Fetch-Site` or, in older ones, by
 * `Origin`. The origin is `null` in forms of pages that send no referrer, as ours do, and in those of other sites: without
 * `Sec-Fetch-Site` it is refused.
 */
export function requireSameOrigin({ headers }: FastifyRequest, publicOrigin: string): void {
  const { "sec-fetch-site": site, origin = "null" } = headers;
  if (site !== undefined && site !== "same-origin") throw refusal(`Sec-Fetch-Site is ${JSON.stringify(site)}.`);
  if (origin === "null" ? site === undefined : origin !== publicOrigin)
    throw refusal(`The origin isn't ${publicOrigin}.`);
}

/** For requests of scripts. */
export function requireScript(request: FastifyRequest, publicOrigin: string): void {
  if (request.headers["x-requested-with"] !== requestedWith)
    throw refusal(`The header X-Requested-With isn't "${requestedWith}".`);
  const { "sec-fetch-site": site, origin } = request.headers;
  // Older browsers send no Origin with GET. The header above is enough then: no other page can send it.
  if (site !== undefined || origin !== undefined) requireSameOrigin(request, publicOrigin);
}
