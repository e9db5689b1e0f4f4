import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, type TestContext, test } from "node:test";
import {
  eventApp,
  importedOrganisation,
  importedSecret,
  importedVendor,
  subscriptionEvent,
} from "@ehr-marketplace/contracts";
import { demoOrganisations } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startApiProcess, startEhrProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { signBody } from "@ehr-marketplace/webhook-signature";
import { ehrPublicRoutes } from "../access/ehr-public-routes.ts";
import { prepareEhr } from "../access/prepare-ehr.ts";
import { prepareMarketplace } from "../access/prepare-marketplace.ts";
import { publicRoutes } from "../access/public-routes.ts";
import { assertQuick, type MeasuredService, type RawRequest, startMeasuredService } from "./event-loop.ts";
import type { Schema } from "./hostile-inputs.ts";
import { hostileRequests, isHead, routeOf, type ServedRoute, type ValidRequest } from "./hostile-requests.ts";
import { ehrRows, marketplaceRows, workerRoutes } from "./route-rows.ts";

/** The schema of each line of an import, which the handler validates. */
const lineSchemas: Record<string, Schema> = {
  "POST /api/v1/admin/organisations/import": importedOrganisation,
  "POST /api/v1/admin/vendors/import": importedVendor,
  "POST /api/admin/organisations/import": importedSecret,
};

function linesOf(route: string): { bodySchema?: Schema; lineKey?: string } {
  const bodySchema = lineSchemas[route];
  return bodySchema === undefined ? {} : { bodySchema, lineKey: route.includes("vendors") ? "slug" : "alias" };
}

async function assertRouteIsQuick(
  t: TestContext,
  service: MeasuredService,
  served: ServedRoute | undefined,
  valid: ValidRequest,
): Promise<void> {
  assert.ok(served !== undefined, "the server doesn't have the route");
  let worst = { cpuMs: 0, name: "" };
  // Imports yield to other requests between lines.
  const measure = (sent: RawRequest) =>
    valid.lineKey === undefined ? service.measure(sent) : service.measureLongestIteration(sent);
  const inputs = hostileRequests(served, valid);
  for (const [index, [name, sent]] of inputs.entries()) {
    const { status, cpuMs } = await assertQuick(measure, name, sent);
    if (index === 0)
      assert.ok(status !== 401 && status !== 403, `${name}: ${status}, so no hostile input would be read`);
    if (cpuMs > worst.cpuMs) worst = { cpuMs, name };
  }
  t.diagnostic(`${inputs.length} requests; the worst took ${worst.cpuMs.toFixed(1)} ms: ${worst.name}`);
}

describe("no request blocks the marketplace's event loop for 100 ms", () => {
  const cleanUp = cleanUpAfter();
  let served: readonly ServedRoute[];
  let service: MeasuredService;
  let headers: Record<string, string>;
  let prepared: Awaited<ReturnType<typeof prepareMarketplace>>;

  before(async () => {
    const callers = await fetchCallers();
    const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const environment = {
      ...callers.environment,
      ALLOWED_ORIGINS: "https://console.example",
    };
    served = (await startMarketplace(cleanUp, serviceUrl, environment)).server.routesAndAccess;
    service = await startMeasuredService((options) =>
      startApiProcess(cleanUp, serviceUrl, { ...options, environment: { ...environment, ...options.environment } }),
    );
    const operator = callers.token("operator");
    prepared = await prepareMarketplace(service.url, operator, callers.token("northwind-developer"));
    // Operators don't report launches of sandbox apps.
    const token = await signToken(callers, { roles: ["operator", "ehr-service"], organization: ["northwind-sandbox"] });
    headers = { authorization: `Bearer ${token}`, "x-vendor-slug": "northwind-health" };
  });

  for (const [route, on] of Object.entries(marketplaceRows)) {
    test(route, async (t) => {
      const { path, body, headers: own } = await prepared.buildRequest(route, on);
      const valid = {
        path,
        headers: { ...headers, ...own },
        body: body as object | undefined,
        ...linesOf(route),
      };
      await assertRouteIsQuick(
        t,
        service,
        served.find((each) => routeOf(each) === route),
        valid,
      );
    });
  }
  for (const [route, { path, headers: own = {}, body }] of publicRoutes) {
    if (isHead(route)) continue;
    test(route, (t) =>
      assertRouteIsQuick(
        t,
        service,
        served.find((each) => routeOf(each) === route),
        { path, headers: own, body },
      ),
    );
  }
});

describe("no request blocks the EHR's event loop for 100 ms", () => {
  const cleanUp = cleanUpAfter();
  let served: readonly ServedRoute[];
  let service: MeasuredService;
  let headers: Record<string, string>;
  let prepared: Awaited<ReturnType<typeof prepareEhr>>;

  before(async () => {
    const callers = await fetchCallers();
    const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
    const marketplace = await startMarketplace(cleanUp, marketplaces.serviceUrl, callers.environment);
    const environment = {
      ...callers.environment,
      ALLOWED_ORIGINS: "https://console.example",
      MARKETPLACE_URL: `${marketplace.url}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    };
    const marketplaceUrl = marketplace.url;
    service = await startMeasuredService((options) =>
      startEhrProcess(cleanUp, ehrs.serviceUrl, {
        marketplaceUrl,
        ...options,
        environment: { ...environment, ...options.environment },
      }),
    );
    served = (await startEhr(cleanUp, ehrs.serviceUrl, environment)).server.routesAndAccess;
    prepared = await prepareEhr({ ehr: service.url, marketplace: marketplaceUrl, ehrOwner: ehrs.ownerUrl }, callers);
    const token = await signToken(callers, {
      organization: { "riverside-clinic": { roles: ["org-admin"] } },
      roles: ["operator", "ehr-service", "launch-redeemer"],
    });
    headers = { authorization: `Bearer ${token}` };
  });

  for (const [route, on] of Object.entries(ehrRows)) {
    test(route, async (t) => {
      const { path, body, headers: named } = await prepared.buildRequest(route, on);
      const valid = { path, headers: { ...headers, ...named }, body: body as object | undefined, ...linesOf(route) };
      await assertRouteIsQuick(
        t,
        service,
        served.find((each) => routeOf(each) === route),
        valid,
      );
    });
  }

  const [practice] = demoOrganisations;
  const event = {
    event: "subscription.created",
    app: {
      id: randomUUID(),
      slug: "northwind-scribe",
      name: "Northwind Scribe",
      iconUrl: "https://icons.example/scribe.svg",
      category: "DOCUMENTATION",
      extensionPoints: ["note-panel"],
      smartLaunchUrl: null,
      fhirScopes: "launch",
    },
    subscription: { id: randomUUID(), status: "active", orgAlias: practice?.alias },
    timestamp: "2026-03-18T09:30:00.000Z",
  };
  const receiver = {
    body: event,
    bodySchema: { ...subscriptionEvent, properties: { ...subscriptionEvent.properties, app: eventApp } } as Schema,
    headersFor: (body: string): Record<string, string> => ({
      "x-marketplace-signature": signBody(body, practice?.secret ?? ""),
      "x-marketplace-delivery-id": "hostile",
    }),
  };
  for (const [route, { path, headers: own = {}, body }] of ehrPublicRoutes) {
    if (isHead(route)) continue;
    test(route, (t) => {
      const valid = { path, headers: own, ...(body === undefined ? {} : receiver) };
      return assertRouteIsQuick(
        t,
        service,
        served.find((each) => routeOf(each) === route),
        valid,
      );
    });
  }
});

test("no request blocks the worker's event loop for 100 ms", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const service = await startMeasuredService((options) => startWorkerProcess(cleanUp, serviceUrl, options));
  for (const url of workerRoutes) {
    const served = { method: "GET", url, access: "anyone", schema: {}, maxBodyBytes: 16_384 } as const;
    await assertRouteIsQuick(t, service, served, { path: url, headers: {} });
  }
});
