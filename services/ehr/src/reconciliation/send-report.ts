import type { MarketplaceTokens } from "./marketplace-tokens.ts";

interface Report {
  method: "POST" | "PUT";
  orgAlias: string;
  subscriptionId: string;
  /** The path below the subscription. */
  resource: string;
  body?: object;
}

const timeoutMs = 10_000;

/** Reports something about a subscription to the marketplace, with the organisation's token. Returns the status of the response. */
export async function sendReport(marketplaceUrl: string, tokens: MarketplaceTokens, report: Report): Promise<number> {
  const status = await send(marketplaceUrl, tokens, report);
  // The token or its signing key may have been revoked, so retry once with a new token.
  return status === 401 ? send(marketplaceUrl, tokens, report) : status;
}

async function send(
  marketplaceUrl: string,
  tokens: MarketplaceTokens,
  { method, orgAlias, subscriptionId, resource, body }: Report,
): Promise<number> {
  const bearer = await tokens.get(orgAlias);
  const response = await fetch(`${marketplaceUrl}/subscriptions/${subscriptionId}/${resource}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (response.status === 401) tokens.invalidate(bearer);
  return response.status;
}
