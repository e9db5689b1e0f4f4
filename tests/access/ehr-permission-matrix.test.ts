import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { personaNames } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type DocumentedResponses, loadDocumentedResponses } from "@ehr-marketplace/tests/support/documented-responses";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import {
  assertDeclaredAccess,
  assertMatrixRow,
  assertPublicRoute,
  type CallerKinds,
  createCallerKinds,
  parseMatrix,
} from "@ehr-marketplace/tests/support/permission-matrix";
import { singleConnectionPool } from "@ehr-marketplace/tests/support/single-connection-pool";
import { ehrPublicRoutes } from "./ehr-public-routes.ts";
import { prepareEhr } from "./prepare-ehr.ts";

/** `by name`: with `X-Org-Alias`. `one's own`: without it. */
const matrix = parseMatrix(`
| route                                               | on                               | anonymous | operator | billing | auditor | riverside-admin | riverside-member | hilltop-admin | two-practices | northwind-developer | lumen-developer | ehr-service | launch-redeemer | foreign-organisation | foreign-vendor | flat-role-in-two |
| --------------------------------------------------- | -------------------------------- | --------- | -------- | ------- | ------- | --------------- | ---------------- | ------------- | ------------- | ------------------- | --------------- | ----------- | --------------- | -------------------- | -------------- | ---------------- |
| GET /api/app-installations                          | one's own                        | 401       | 400      | 403     | 403     | 200             | 200              | 200           | 400           | 403                 | 403             | 400         | 403             | 200                  | 403            | 403              |
| GET /api/app-installations                          | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations                          | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations                          | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | one's own                        | 401       | 400      | 403     | 403     | 200             | 200              | 200           | 400           | 403                 | 403             | 400         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | one's own, hilltop's app         | 401       | 400      | 403     | 403     | 404             | 404              | 200           | 400           | 403                 | 403             | 400         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | riverside by name, hilltop's app | 401       | 404      | 403     | 403     | 404             | 404              | 403           | 404           | 403                 | 403             | 404         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | one's own                        | 401       | 400      | 403     | 403     | 200             | 200              | 200           | 400           | 403                 | 403             | 400         | 403             | 200                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | one's own                        | 401       | 400      | 403     | 403     | 200             | 403              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | riverside by name                | 401       | 200      | 403     | 403     | 200             | 403              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | one's own, hilltop's app         | 401       | 400      | 403     | 403     | 404             | 403              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | one's own                        | 401       | 400      | 403     | 403     | 200             | 200              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | one's own, hilltop's app         | 401       | 400      | 403     | 403     | 404             | 404              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | one's own                        | 401       | 400      | 403     | 403     | 200             | 403              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | riverside by name                | 401       | 200      | 403     | 403     | 200             | 403              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | one's own, hilltop's app         | 401       | 400      | 403     | 403     | 404             | 403              | 200           | 400           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | one's own                        | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 400         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | riverside by name                | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | hilltop by name                  | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | riverside by name, hilltop's app | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 404         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | unregistered by name             | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/internal/launch-contexts/consume          | a launch                         | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 200             | 403                  | 403            | 403              |
| PUT /api/admin/organisations/:alias/secret          | new                              | 401       | 201      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/admin/organisations/:alias/secret          | riverside                        | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/organisations/import                | new                              | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/organisations/:alias/reconcile      | riverside                        | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/organisations/:alias/reconcile      | unregistered                     | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-clients                       | riverside                        | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 200             | 403                  | 403            | 403              |
| GET /api/internal/app-clients                       | unregistered                     | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 200             | 403                  | 403            | 403              |
| GET /api/admin/clients                              | all                              | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/admin/clients/:id                          | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/admin/clients/:id                          | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/admin/clients/:id                          | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/admin/clients/:id                          | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/clients/:id/retry                   | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/clients/:id/retry                   | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| DELETE /api/admin/clients/:id                       | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| DELETE /api/admin/clients/:id                       | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/admin/differences                          | all                              | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/differences/:id/apply               | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/differences/:id/apply               | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/differences/:id/keep                | existing                         | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/differences/:id/keep                | unknown                          | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/admin/audit                                | all                              | 401       | 200      | 403     | 200     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
`);

describe("permissions in the EHR, each use case on one database connection, with documented responses", () => {
  const cleanUp = cleanUpAfter();
  let running: RunningEhr;
  let kinds: CallerKinds;
  let documented: DocumentedResponses;
  let prepared: Awaited<ReturnType<typeof prepareEhr>>;

  before(async () => {
    kinds = await createCallerKinds(personaNames);
    const { callers } = kinds;
    const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
    const marketplace = await startMarketplace(cleanUp, marketplaces.serviceUrl, callers.environment);
    running = await startEhr(cleanUp, ehrs.serviceUrl, {
      ...callers.environment,
      ...singleConnectionPool,
      ALLOWED_ORIGINS: "https://console.example",
      MARKETPLACE_URL: `${marketplace.url}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
    documented = await loadDocumentedResponses(`${running.url}/api/openapi.json`);
    prepared = await prepareEhr({ ehr: running.url, marketplace: marketplace.url, ehrOwner: ehrs.ownerUrl }, callers);
  });

  test("every route has a row and declares who may use it", () =>
    assertDeclaredAccess(running.server, matrix, ehrPublicRoutes));

  for (const [route, publicRequest] of ehrPublicRoutes) {
    test(`${route} is public, with any token or none`, () =>
      assertPublicRoute(
        { ...running, kinds, checkResponse: documented.checkResponse },
        { method: route.split(" ")[0] ?? "", ...publicRequest },
      ));
  }

  for (const row of matrix) {
    test(`${row.route} on ${row.on}`, () =>
      assertMatrixRow({ ...running, kinds, checkResponse: documented.checkResponse }, row, () =>
        prepared.buildRequest(row.route, row.on),
      ));
  }

  test("every documented success was observed", async () => {
    const path = "/api/app-installations";
    const list = (headers?: Record<string, string>): Promise<Response> =>
      sendRequest(
        `${running.url}${path}`,
        kinds.callers.token("riverside-member"),
        headers === undefined ? {} : { headers },
      );
    const etag = (await list()).headers.get("etag") ?? "";
    await documented.checkResponse("GET", path, await list({ "if-none-match": etag }));
    const successes = documented.documented.filter((what) => /^\w+ [23]/.test(what));
    assert.ok(successes.length > 11);
    assert.deepEqual(
      successes.filter((what) => !documented.observed.has(what)),
      [],
    );
  });

  const listAs = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
    sendRequest(`${running.url}/api/app-installations`, token, { headers });

  test("a token with only the marketplace's audience is rejected, also an operator's", async () => {
    const claims = { roles: ["operator"], aud: "marketplace" };
    const response = await listAs(await signToken(kinds.callers, claims), { "x-org-alias": "riverside-clinic" });
    assert.equal(response.status, 401);
  });

  test("a caller in several organisations is told to send X-Org-Alias", async () => {
    const response = await listAs(kinds.callers.token("two-practices"));
    assert.match(((await response.json()) as { message: string }).message, /names 2 organisations.*X-Org-Alias/);
  });

  test("a role without an organisation, in a token with two, is refused with the reason", async () => {
    const response = await listAs(kinds.valid.get("flat-role-in-two") ?? "", { "x-org-alias": "riverside-clinic" });
    assert.match(
      ((await response.json()) as { message: string }).message,
      /org-admin is ignored.*names 2 organisations/,
    );
  });

  test("another organisation is refused alike, whether or not it exists", async () => {
    const refusals = await Promise.all(
      ["hilltop-family-practice", "unregistered-clinic"].map(async (alias) => {
        const response = await listAs(kinds.callers.token("riverside-admin"), { "x-org-alias": alias });
        return [response.status, await response.text()];
      }),
    );
    assert.deepEqual(refusals[0], refusals[1]);
  });
});
