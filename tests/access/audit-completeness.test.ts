import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { ehrAuditQuery, listAuditQuery } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import type { MatrixRequest } from "@ehr-marketplace/tests/support/permission-matrix";
import type { FastifyInstance } from "fastify";
import { prepareEhr } from "./prepare-ehr.ts";
import { prepareMarketplace } from "./prepare-marketplace.ts";
import { startBothServices } from "./start-both-services.ts";

const readGuide = (name: string): string => readFileSync(`docs/guides/${name}`, "utf8");
const marketplaceDocuments = [JSON.stringify(listAuditQuery), readGuide("marketplace-operator.md")];
const ehrDocuments = [JSON.stringify(ehrAuditQuery), readGuide("ehr-operator.md")];

type Server = Pick<FastifyInstance, "routesAndAccess">;

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const machineRoles = new Set<string>(["ehr-service", "launch-redeemer"]);

/** Returns routes that write, and routes that only machine roles may read, because they return secrets. */
const routesToAudit = ({ routesAndAccess }: Server): string[] =>
  routesAndAccess
    .filter(({ method, access }) => {
      const returnsSecrets = method === "GET" && access !== "anyone" && access.every((role) => machineRoles.has(role));
      return returnsSecrets || !readMethods.has(method);
    })
    .map(({ method, url }) => `${method} ${url}`);

/** Checks that every route has a row or a reason for having none. */
function assertComplete(server: Server, rows: string[], exceptions: Map<string, string>): void {
  const listed = [...rows, ...exceptions.keys()];
  assert.deepEqual(
    routesToAudit(server).toSorted(),
    listed.toSorted(),
    "each route needs a row in `rows`, or a reason in `exceptions`",
  );
}

/** Calls a route and checks that an audit entry has the request's id, and that the documents list its action. */
async function assertAudited(
  service: { url: string; ownerUrl: string; callers: Callers },
  documents: string[],
  route: string,
  as: Persona,
  request: MatrixRequest,
): Promise<void> {
  const [method = ""] = route.split(" ");
  const response = await sendRequest(`${service.url}${request.path}`, service.callers.token(as), {
    ...request,
    method,
  });
  assert.ok(response.ok, `${response.status} ${await response.text()}`);
  const { rows } = await withClient(service.ownerUrl, (client) =>
    client.query<{ actor_subject: string; action: string }>(
      "select actor_subject, action from audit_entries where request_id = $1",
      [response.headers.get("x-request-id")],
    ),
  );
  assert.deepEqual(
    rows.map(({ actor_subject }) => actor_subject),
    [as],
  );
  for (const document of documents)
    assert.ok(document.includes(`\`${rows[0]?.action}\``), `it lacks ${rows[0]?.action}`);
}

/** Statements that create the state in which a call changes something: a call without effect leaves no entry. */
const prerequisites: Record<string, string[]> = {
  "/enable": [
    "update recipients set status = 'held', held_since = now() where kind = 'endpoint' and status = 'active'",
  ],
  "/consent": [
    "alter table subscriptions disable trigger user",
    "update subscriptions set fhir_scopes = 'launch'",
    "alter table subscriptions enable trigger user",
  ],
  "/redeliver": [
    "delete from pgboss.job where name = 'deliveries'",
    "update deliveries set status = 'failed', settled_at = now()",
  ],
};

describe("every route of the EHR service that writes or reveals a secret leaves an audit entry", () => {
  const cleanUp = cleanUpAfter();
  const rows: [route: string, on: string, as: Persona][] = [
    ["PUT /api/app-installations/:appSlug/config", "riverside by name", "riverside-admin"],
    ["GET /api/internal/app-installations/:appSlug/config", "riverside by name", "ehr-service"],
    ["POST /api/internal/launch-contexts/consume", "a launch", "launch-redeemer"],
    ["PUT /api/admin/organisations/:alias/secret", "riverside", "operator"],
    ["POST /api/admin/organisations/import", "new", "operator"],
    ["POST /api/admin/organisations/:alias/reconcile", "riverside", "operator"],
    ["PUT /api/admin/clients/:id", "existing", "operator"],
    ["POST /api/admin/clients/:id/retry", "existing", "operator"],
    ["DELETE /api/admin/clients/:id", "existing", "operator"],
    ["POST /api/admin/differences/:id/apply", "existing", "operator"],
    ["POST /api/admin/differences/:id/keep", "existing", "operator"],
  ];
  const exceptions = new Map([
    ["POST /api/app-installations/:appSlug/launch", "the append-only launch log has it"],
    ["GET /api/internal/app-clients", "it is requested at every token, and reveals no secret"],
    ["POST /api/internal/marketplace-webhook", "the marketplace signs it and audits its cause"],
  ]);
  let service: { url: string; server: Server; ownerUrl: string; callers: Callers };
  let prepared: Awaited<ReturnType<typeof prepareEhr>>;
  before(async () => {
    const callers = await fetchCallers();
    const { marketplace, ehr, ehrOwnerUrl } = await startBothServices(cleanUp, callers);
    service = { ...ehr, ownerUrl: ehrOwnerUrl, callers };
    prepared = await prepareEhr({ ehr: ehr.url, marketplace: marketplace.url, ehrOwner: ehrOwnerUrl }, callers);
  });

  test("the table is complete", () =>
    assertComplete(
      service.server,
      rows.map(([route]) => route),
      exceptions,
    ));
  for (const [route, on, as] of rows) {
    test(route, async () => assertAudited(service, ehrDocuments, route, as, await prepared.buildRequest(route, on)));
  }
});

describe("every route of the marketplace that writes or reveals a secret leaves an audit entry", () => {
  const cleanUp = cleanUpAfter();
  const [subscription, webhook] = ["/api/v1/subscriptions/:id", "/api/v1/developer/webhooks/:id"];
  const rows: [route: string, on: string, as?: Persona][] = [
    ["PUT /api/v1/admin/organisations/:alias", "riverside"],
    ["POST /api/v1/admin/organisations/import", "riverside"],
    ["POST /api/v1/admin/vendors/import", "northwind"],
    ["PUT /api/v1/admin/search-synonyms", "all"],
    ["PUT /api/v1/admin/vendors/:slug", "northwind"],
    ["POST /api/v1/developer/apps", "northwind's by name"],
    ["PATCH /api/v1/developer/apps/:slug", "northwind's by name"],
    ["DELETE /api/v1/developer/apps/:slug", "northwind's by name"],
    ["POST /api/v1/developer/apps/:slug/media", "northwind's by name"],
    ["DELETE /api/v1/admin/media/:id", "northwind's"],
    ["POST /api/v1/developer/apps/:slug/submit", "northwind's by name"],
    ["POST /api/v1/developer/apps/:slug/withdraw", "northwind's by name"],
    ["POST /api/v1/developer/apps/:slug/unpublish", "northwind's by name"],
    ["POST /api/v1/developer/apps/:slug/republish", "northwind's by name"],
    ["POST /api/v1/developer/apps/:slug/test-subscriptions", "northwind's by name"],
    ["DELETE /api/v1/developer/apps/:slug/test-subscriptions/:orgAlias", "northwind's by name"],
    [`POST ${subscription}/sandbox-launches`, "northwind's", "ehr-service"],
    ["POST /api/v1/admin/reviews/:id/approve", "northwind's"],
    ["POST /api/v1/admin/reviews/:id/reject", "northwind's"],
    ["POST /api/v1/admin/apps/:slug/feature", "northwind's"],
    ["POST /api/v1/admin/apps/:slug/unfeature", "northwind's"],
    ["POST /api/v1/admin/apps/:slug/suspend", "northwind's"],
    ["POST /api/v1/admin/apps/:slug/reinstate", "northwind's"],
    ["POST /api/v1/subscriptions", "riverside"],
    [`POST ${subscription}/pause`, "riverside, SECURITY"],
    [`POST ${subscription}/resume`, "riverside, SECURITY"],
    [`POST ${subscription}/cancel`, "riverside"],
    [`POST ${subscription}/consent`, "riverside"],
    [`POST ${subscription}/plan`, "riverside"],
    [`PUT ${subscription}/spend-limit`, "riverside"],
    [`DELETE ${subscription}/spend-limit`, "riverside"],
    ["POST /api/v1/admin/subscriptions/:id/credits", "a charged one"],
    [`POST ${subscription}/lift-block`, "riverside, SECURITY"],
    [`PUT ${subscription}/connection`, "riverside", "ehr-service"],
    ["POST /api/v1/developer/webhooks", "northwind's by name"],
    [`PATCH ${webhook}`, "northwind's by name"],
    [`DELETE ${webhook}`, "northwind's by name"],
    [`POST ${webhook}/rotate-secret`, "northwind's by name"],
    [`POST ${webhook}/promote-secret`, "northwind's by name"],
    [`POST ${webhook}/enable`, "northwind's by name"],
    [`POST ${webhook}/test`, "northwind's by name"],
    [`POST ${webhook}/deliveries/:deliveryId/redeliver`, "northwind's by name"],
    [`POST ${webhook}/replays`, "northwind's by name"],
    ["PUT /api/v1/organisations/:alias/notice-settings", "riverside", "riverside-admin"],
    ["PUT /api/v1/developer/notice-settings", "one's own", "northwind-developer"],
    ["PUT /api/v1/admin/notice-settings", "all"],
    [`DELETE ${webhook}/replays/:replayId`, "northwind's by name"],
  ];
  const exceptions = new Map([
    [`POST ${subscription}/usage`, "each record has the request's id and the caller"],
    ...["organisations/:alias", "developer", "admin"].map((of): [string, string] => [
      `POST /api/v1/${of}/notices/:id/read`,
      "it changes nothing but that somebody has read the notice",
    ]),
    ["POST /api/v1/apps/:slug/estimate", "it stores nothing"],
    ["POST /notices/unsubscribe", "it has no caller, but a signed link; `read-notices.test.ts` checks its entry"],
    ["POST /notices/confirm", "it has no caller, but a signed link; `read-notices.test.ts` checks its entry"],
  ]);
  let service: { url: string; server: Server; ownerUrl: string; callers: Callers };
  let buildRequest: (route: string, on: string) => Promise<MatrixRequest>;
  before(async () => {
    const callers = await fetchCallers();
    const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
    const environment = { ...callers.environment, VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" };
    const marketplace = await startMarketplace(cleanUp, serviceUrl, environment);
    service = { ...marketplace, ownerUrl, callers };
    const operator = callers.token("operator");
    const prepared = await prepareMarketplace(marketplace.url, operator, callers.token("northwind-developer"));
    buildRequest = async (route, on) => {
      const request = await prepared.buildRequest(route, on);
      return route.includes("/admin/organisations/:alias")
        ? { ...request, body: { displayName: "Riverside Clinic, renamed" } }
        : request;
    };
  });

  test("the table is complete", () =>
    assertComplete(
      service.server,
      rows.map(([route]) => route),
      exceptions,
    ));
  for (const [route, on, as = "operator"] of rows) {
    test(route, async () => {
      const request = await buildRequest(route, on);
      const action = Object.keys(prerequisites).find((each) => route.endsWith(each)) ?? "";
      await withClient(service.ownerUrl, async (client) => {
        for (const statement of prerequisites[action] ?? []) await client.query(statement);
      });
      await assertAudited(service, marketplaceDocuments, route, as, request);
    });
  }
});
