import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";

interface PublicRoute {
  path: string;
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

const preflight = { origin: "https://console.example", "access-control-request-method": "GET" };

/** The ids of published media are other ones in each run. */
const unpublishedMedia = "/media/00000000-0000-7000-8000-000000000000";

/** The links of mails, signed with the keys of development. */
const tokenOf = (purpose: string, text: string): string => {
  const value = Buffer.from(text).toString("base64url");
  return `${value}.${createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), purpose).create(value)}`;
};
const unsubscribe = `/notices/unsubscribe?token=${tokenOf("unsubscribe", "operators endpoint-held")}`;
const confirm = `/notices/confirm?token=${tokenOf("confirmation", `operators ${Date.UTC(2100, 0)}`)}`;

const getAndHead: Record<string, string> = {
  "/": "/",
  "/api/v1": "/api/v1",
  "/health": "/health",
  "/health/live": "/health/live",
  "/health/ready": "/health/ready",
  "/metrics": "/metrics",
  "/problems": "/problems",
  "/problems/:code": "/problems/forbidden",
  "/api/v1/openapi.json": "/api/v1/openapi.json",
  "/favicon.ico": "/favicon.ico",
  "/docs/": "/docs/",
  "/docs/js/scalar.js": "/docs/js/scalar.js",
  "/media/sandbox-icon.png": "/media/sandbox-icon.png",
  "/api/v1/apps": "/api/v1/apps",
  "/api/v1/apps/search": "/api/v1/apps/search?q=scribe",
  "/api/v1/apps/featured": "/api/v1/apps/featured",
  "/api/v1/apps/categories": "/api/v1/apps/categories",
  "/api/v1/apps/:slug": "/api/v1/apps/northwind-scribe",
  "/api/v1/apps/:slug/pricing": "/api/v1/apps/northwind-scribe/pricing",
  "/api/v1/apps/:slug/versions": "/api/v1/apps/northwind-scribe/versions",
  // An authorization server fetches it as a Client ID Metadata Document, without a token.
  "/api/v1/apps/:slug/client": "/api/v1/apps/northwind-scribe/client",
  "/api/v1/vendors/:slug": "/api/v1/vendors/northwind-health",
};

/** Routes that are intentionally public. Adding one needs a reason. */
export const publicRoutes: Map<string, PublicRoute> = new Map([
  ...Object.entries(getAndHead).flatMap(([url, path]): [string, PublicRoute][] => [
    [`GET ${url}`, { path, status: 200 }],
    [`HEAD ${url}`, { path, status: 200 }],
  ]),
  // A practice learns what it would pay before it signs in. The ids of plans are other ones in each run.
  [
    "POST /api/v1/apps/:slug/estimate",
    {
      path: "/api/v1/apps/northwind-scribe/estimate",
      status: 422,
      body: { pricingPlanId: "00000000-0000-7000-8000-000000000000" },
    },
  ],
  ["GET /media/:id", { path: unpublishedMedia, status: 404 }],
  ["HEAD /media/:id", { path: unpublishedMedia, status: 404 }],
  // Whoever has a mail may unsubscribe.
  ["GET /notices/unsubscribe", { path: unsubscribe, status: 200 }],
  ["HEAD /notices/unsubscribe", { path: unsubscribe, status: 200 }],
  ["POST /notices/unsubscribe", { path: unsubscribe, status: 200 }],
  // Whoever has a mail may confirm that it arrived. Posted, the operators have no such address.
  ["GET /notices/confirm", { path: confirm, status: 200 }],
  ["HEAD /notices/confirm", { path: confirm, status: 200 }],
  ["POST /notices/confirm", { path: confirm, status: 404 }],
  ["GET /docs", { path: "/docs", status: 200 }],
  ["HEAD /docs", { path: "/docs", status: 200 }],
  ["OPTIONS /api/v1/apps*", { path: "/api/v1/apps", status: 204, headers: preflight }],
  ["OPTIONS /api/v1/vendors*", { path: "/api/v1/vendors/northwind-health", status: 204, headers: preflight }],
  ["OPTIONS /api/v1*", { path: "/api/v1/subscriptions", status: 204, headers: preflight }],
]);
