import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { personaNames } from "@ehr-marketplace/dev/identity-provider";
import {
  askAt,
  assertOpen,
  assertRow,
  assertStated,
  cleanUpAfter,
  cloneDatabase,
  type DocumentedAnswers,
  documentedAnswers,
  everyKindOfCaller,
  type KindsOfCallers,
  oneConnection,
  type RunningEhr,
  readMatrix,
  signedToken,
  startEhr,
  startMarketplace,
} from "@ehr-marketplace/tests/support";
import { ehrOpenRoutes } from "./ehr-open-routes.ts";
import { prepareEhr } from "./prepare-ehr.ts";

/** `by name`: in `X-Org-Alias`. `one's own`: without it. */
const matrix = readMatrix(`
| route                                               | on                               | anonymous | operator | billing | auditor | riverside-admin | riverside-member | hilltop-admin | two-practices | northwind-developer | lumen-developer | ehr-service | launch-redeemer | foreign-organisation | foreign-vendor | flat-role-in-two |
| --------------------------------------------------- | -------------------------------- | --------- | -------- | ------- | ------- | --------------- | ---------------- | ------------- | ------------- | ------------------- | --------------- | ----------- | --------------- | -------------------- | -------------- | ---------------- |
| GET /api/app-installations                          | one's own                        | 401       | 403      | 403     | 403     | 200             | 200              | 200           | 403           | 403                 | 403             | 403         | 403             | 200                  | 403            | 403              |
| GET /api/app-installations                          | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations                          | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations                          | unregistered by name             | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | one's own                        | 401       | 403      | 403     | 403     | 200             | 200              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | one's own, hilltop's app         | 401       | 403      | 403     | 403     | 404             | 404              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | riverside by name, hilltop's app | 401       | 404      | 403     | 403     | 404             | 404              | 403           | 404           | 403                 | 403             | 404         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug                 | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | one's own                        | 401       | 403      | 403     | 403     | 200             | 200              | 200           | 403           | 403                 | 403             | 403         | 403             | 200                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/installed       | unregistered by name             | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | one's own                        | 401       | 403      | 403     | 403     | 200             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | riverside by name                | 401       | 200      | 403     | 403     | 200             | 403              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | one's own, hilltop's app         | 401       | 403      | 403     | 403     | 404             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| PUT /api/app-installations/:appSlug/config          | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | one's own                        | 401       | 403      | 403     | 403     | 200             | 200              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | riverside by name                | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | one's own, hilltop's app         | 401       | 403      | 403     | 403     | 404             | 404              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST /api/app-installations/:appSlug/launch         | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | one's own                        | 401       | 403      | 403     | 403     | 200             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | riverside by name                | 401       | 200      | 403     | 403     | 200             | 403              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | hilltop by name                  | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | one's own, hilltop's app         | 401       | 403      | 403     | 403     | 404             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET /api/app-installations/:appSlug/launches        | unregistered by name             | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | one's own                        | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | riverside by name                | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | hilltop by name                  | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | riverside by name, hilltop's app | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 404         | 403             | 403                  | 403            | 403              |
| GET /api/internal/app-installations/:appSlug/config | unregistered by name             | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/internal/launch-contexts/consume          | a launch                         | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 200             | 403                  | 403            | 403              |
| PUT /api/admin/organisations/:alias/secret          | new                              | 401       | 201      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| PUT /api/admin/organisations/:alias/secret          | riverside                        | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/organisations/:alias/reconcile      | riverside                        | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/admin/organisations/:alias/reconcile      | unregistered                     | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/admin/audit                                | all                              | 401       | 200      | 403     | 200     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
`);

describe("who may do what in the EHR, each use case on one database connection, answered as the document says", () => {
  const cleanUp = cleanUpAfter();
  let running: RunningEhr;
  let kinds: KindsOfCallers;
  let documented: DocumentedAnswers;
  let prepared: Awaited<ReturnType<typeof prepareEhr>>;

  before(async () => {
    kinds = await everyKindOfCaller(cleanUp, personaNames);
    const { callers } = kinds;
    const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
    const marketplace = await startMarketplace(cleanUp, marketplaces.serviceUrl, callers.environment);
    running = await startEhr(cleanUp, ehrs.serviceUrl, {
      ...callers.environment,
      ...oneConnection,
      ALLOWED_ORIGINS: "https://console.example",
      MARKETPLACE_URL: `${marketplace.url}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
    documented = await documentedAnswers(`${running.url}/api/openapi.json`);
    prepared = await prepareEhr({ ehr: running.url, marketplace: marketplace.url }, callers);
  });

  test("every route of the server has a row, and says who may use it", () =>
    assertStated(running.server, matrix, ehrOpenRoutes));

  for (const [route, open] of ehrOpenRoutes) {
    test(`${route} is open to anyone, whatever token they carry`, () =>
      assertOpen({ ...running, kinds, hold: documented.hold }, { method: route.split(" ")[0] ?? "", ...open }));
  }

  for (const row of matrix) {
    test(`${row.route} on ${row.on}`, () =>
      assertRow({ ...running, kinds, hold: documented.hold }, row, () => prepared.question(row.route, row.on)));
  }

  test("every success that the document names was seen", async () => {
    const path = "/api/app-installations";
    const ask = (headers?: Record<string, string>): Promise<Response> =>
      askAt(`${running.url}${path}`, kinds.callers.token("riverside-member"), headers === undefined ? {} : { headers });
    const etag = (await ask()).headers.get("etag") ?? "";
    await documented.hold("GET", path, await ask({ "if-none-match": etag }));
    const succeeds = documented.promised.filter((what) => /^\w+ [23]/.test(what));
    assert.ok(succeeds.length > 11);
    assert.deepEqual(
      succeeds.filter((what) => !documented.seen.has(what)),
      [],
    );
  });

  const list = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
    askAt(`${running.url}/api/app-installations`, token, { headers });

  test("a token for the marketplace alone opens nothing here, not even to an operator", async () => {
    const claims = { roles: ["operator"], aud: "marketplace" };
    const answer = await list(await signedToken(kinds.callers, claims), { "x-org-alias": "riverside-clinic" });
    assert.equal(answer.status, 401);
  });

  test("who is in several organisations is told to name one", async () => {
    const answer = await list(kinds.callers.token("two-practices"));
    assert.match(((await answer.json()) as { message: string }).message, /names 2 organisations.*X-Org-Alias/);
  });

  test("a role that doesn't say in which of two organisations it holds is refused with the reason", async () => {
    const answer = await list(kinds.valid.get("flat-role-in-two") ?? "", { "x-org-alias": "riverside-clinic" });
    assert.match(
      ((await answer.json()) as { message: string }).message,
      /org-admin isn't counted.*names 2 organisations/,
    );
  });

  test("an organisation that isn't one's own is refused alike, whether or not it exists", async () => {
    const refusals = await Promise.all(
      ["hilltop-family-practice", "unregistered-clinic"].map(async (alias) => {
        const answer = await list(kinds.callers.token("riverside-admin"), { "x-org-alias": alias });
        return [answer.status, await answer.text()];
      }),
    );
    assert.deepEqual(refusals[0], refusals[1]);
  });
});
