import assert from "node:assert/strict";
import { requestAccessToken } from "@ehr-marketplace/dev/identity-provider/client";
import type { DevStack } from "./dev-stack.ts";

/** Sends what a browser sends for a page of this origin: a preflight request, and then the request with its token. */
export async function assertCallable({ marketplaceUrl, ehrUrl, issuer }: DevStack, origin: string): Promise<void> {
  const token = await requestAccessToken(issuer, "riverside-admin");
  for (const url of [
    `${marketplaceUrl}/api/v1/subscriptions?orgAlias=riverside-clinic`,
    `${ehrUrl}/api/app-installations`,
  ]) {
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
      },
    });
    const allowed = (name: string): string | null => preflight.headers.get(`access-control-allow-${name}`);
    assert.deepEqual([preflight.status, allowed("origin")], [204, origin], url);
    assert.match(allowed("methods") ?? "", /GET.*POST.*PUT/);
    assert.equal(allowed("headers"), "authorization,content-type,idempotency-key");
    const response = await fetch(url, { headers: { origin, authorization: `Bearer ${token}` } });
    assert.deepEqual([response.status, response.headers.get("access-control-allow-origin")], [200, origin], url);
  }
}
