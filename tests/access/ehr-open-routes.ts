import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import type { Question } from "@ehr-marketplace/tests/support";
import { signBody } from "@ehr-marketplace/webhook-signature";

type OpenRoute = Question & { status: number };

const read = ["/health/live", "/health/ready", "/metrics", "/api/openapi.json", "/favicon.ico", "/docs/", "/docs"];
const preflight = { origin: "https://console.example", "access-control-request-method": "GET" };

const [practice] = demoOrganisations;
/** Of a kind that this service doesn't know: it is verified all the same, and changes nothing. */
const event = { event: "subscription.unheard-of", subscription: { orgAlias: practice?.alias } };
const signed = { "x-marketplace-signature": signBody(JSON.stringify(event), practice?.secret ?? "") };

/** What is meant to be open to the whole world; the receiver, because a signature is its token. */
export const ehrOpenRoutes: Map<string, OpenRoute> = new Map([
  ...[...read, "/docs/js/scalar.js"].flatMap((path): [string, OpenRoute][] => [
    [`GET ${path}`, { path, status: 200 }],
    [`HEAD ${path}`, { path, status: 200 }],
  ]),
  ["OPTIONS /api*", { path: "/api/app-installations", status: 204, headers: preflight }],
  [
    "POST /api/internal/marketplace-webhook",
    { path: "/api/internal/marketplace-webhook", status: 200, body: event, headers: signed },
  ],
]);
