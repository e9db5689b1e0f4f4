import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import type { MatrixRequest } from "@ehr-marketplace/tests/support/permission-matrix";
import { signBody } from "@ehr-marketplace/webhook-signature";

type PublicRoute = MatrixRequest & { status: number };

const ownPages = ["/", "/api", "/health", "/docs", "/docs/", "/favicon.ico"];
const getPaths = [...ownPages, "/health/live", "/health/ready", "/metrics", "/api/openapi.json"];
const preflight = { origin: "https://console.example", "access-control-request-method": "GET" };

const [practice] = demoOrganisations;
/** An unknown event type: the receiver verifies the signature and changes nothing. */
const event = { event: "subscription.unheard-of", subscription: { orgAlias: practice?.alias } };
const signed = { "x-marketplace-signature": signBody(JSON.stringify(event), practice?.secret ?? "") };

/** Routes that are intentionally public. The webhook receiver is public because it checks a signature instead of a token. */
export const ehrPublicRoutes: Map<string, PublicRoute> = new Map([
  ...[...getPaths, "/docs/js/scalar.js"].flatMap((path): [string, PublicRoute][] => [
    [`GET ${path}`, { path, status: 200 }],
    [`HEAD ${path}`, { path, status: 200 }],
  ]),
  ["OPTIONS /api*", { path: "/api/app-installations", status: 204, headers: preflight }],
  [
    "POST /api/internal/marketplace-webhook",
    { path: "/api/internal/marketplace-webhook", status: 200, body: event, headers: signed },
  ],
]);
