import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { createAppParser } from "../apps/parse-app.ts";
import type { DB } from "../database-schema.ts";
import {
  eventOf,
  hilltop,
  readInstallationRows,
  riverside,
  send,
  storeApps,
} from "../marketplace-events/events.test-support.ts";
import { createSubscriptionLister } from "./marketplace-subscriptions.ts";
import { createMarketplaceTokens } from "./marketplace-tokens.ts";
import { type ReconciliationDeps, type ReconciliationResult, reconcile } from "./reconcile.ts";
import { requestAllReconciliations } from "./reconciliation-jobs.ts";

describe("reconciling with the marketplace's list", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let environment: Record<string, string>;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let reconciling: ReconciliationDeps;

  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const tokenUrl = `${marketplace.callers.identityProvider.issuer}/token`;
    const credentials = {
      tokenUrl,
      clientId: "ehr-service",
      clientSecret: "development-only",
      parameters: "",
      plainHttp: true,
    };
    environment = {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: `${marketplace.url}/api/v1`,
      MARKETPLACE_TOKEN_URL: tokenUrl,
      MARKETPLACE_CLIENT_ID: credentials.clientId,
      MARKETPLACE_CLIENT_SECRET: credentials.clientSecret,
    };
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    ehr = await startEhr(cleanUp, database.serviceUrl, environment);

    const connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    const token = createMarketplaceTokens(credentials, connected.clock);
    reconciling = {
      ...connected,
      countCorrections: () => undefined,
      countSkipped: () => undefined,
      listSubscriptions: createSubscriptionLister(
        `${marketplace.url}/api/v1`,
        token,
        createAppParser({ allowsHttp: true }),
      ),
    };
  });

  const subscribe = async (appSlug: string, orgAlias = riverside): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    return (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const change = async ({ id }: SubscriptionDto, command: string, body?: object): Promise<SubscriptionDto> => {
    const request = { method: "POST", ...(body === undefined ? {} : { body }) };
    const response = await marketplace.requestAs("operator", `/subscriptions/${id}/${command}`, request);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const requestReconciliation = (alias: string, url = ehr.url): Promise<Response> =>
    sendRequest(`${url}/api/admin/organisations/${alias}/reconcile`, marketplace.callers.token("operator"), {
      method: "POST",
    });
  const reconciled = async (alias = riverside): Promise<ReconciliationResult> => {
    const response = await requestReconciliation(alias);
    const said = (await response.json()) as { message: string; data: ReconciliationResult };
    assert.equal(response.status, 200, said.message);
    return said.data;
  };
  const statusOf = async (slug: string, alias = riverside): Promise<string | undefined> =>
    (await readInstallationRows(ownerUrl)).find((row) => row.app_slug === slug && row.org_alias === alias)?.status;
  const tell = async (what: Parameters<typeof eventOf>[0]["what"], dto: SubscriptionDto): Promise<void> => {
    const body = eventOf({ what, id: dto.id, app: dto.appSlug, at: Date.parse(dto.updatedAt) });
    assert.equal((await send(ehr.url, { body })).status, 200);
  };

  test("applies lost events in both directions, and changes nothing the second time", async () => {
    // No worker runs, so no event arrives.
    await subscribe("northwind-scribe");
    const paused = await change(await subscribe("cuffline"), "pause", { reason: "ORG_REQUEST" });
    const input = await subscribe("quiet-room");
    await tell("created", input);
    await eventually("it is installed", 15_000, async () => (await statusOf("quiet-room")) === "active");
    await change(input, "cancel");

    const { checked, changed, unlisted } = await reconciled();
    assert.deepEqual({ checked, changed, unlisted }, { checked: 3, changed: 3, unlisted: 0 });
    assert.equal(await statusOf("northwind-scribe"), "active");
    assert.equal(await statusOf("cuffline"), "paused");
    assert.equal(await statusOf("quiet-room"), "removed");
    const again = await reconciled();
    assert.equal(again.changed, 0);

    // The events arrive late, with their original times.
    const earlier = await readInstallationRows(ownerUrl);
    await tell("created", input);
    await tell("created", { ...paused, updatedAt: paused.createdAt });
    await tell("paused", paused);
    assert.deepEqual(await readInstallationRows(ownerUrl), earlier);
  });

  test("stores an app that no event named from the list", async () => {
    await subscribe("northwind-scribe", hilltop);
    await reconciled(hilltop);
    const [catalog] = (await (await marketplace.get("/apps/search?q=northwind+scribe")).json()) as { name: string }[];
    const url = `${ehr.url}/api/app-installations/northwind-scribe`;
    const response = await sendRequest(url, marketplace.callers.token("hilltop-admin"), {});
    const { data } = (await response.json()) as { data: { name: string; status: string } | null };
    assert.deepEqual([data?.name, data?.status], [catalog?.name, "active"]);
  });

  test("a newer event that arrives between the list and its application wins", async () => {
    const created = await subscribe("cafe-intake");
    assert.ok(created.id);
    await tell("created", created);
    await eventually("it is installed", 15_000, async () => (await statusOf("cafe-intake")) === "active");
    const paused = await change(created, "pause", { reason: "ORG_REQUEST" });
    const late: ReconciliationDeps = {
      ...reconciling,
      async listSubscriptions(alias) {
        const listed = await reconciling.listSubscriptions(alias);
        await tell("resumed", await change(paused, "resume"));
        return listed;
      },
    };
    const { changed } = await reconcile(late, riverside);
    assert.equal(changed, 0);
    assert.equal(await statusOf("cafe-intake"), "active");
  });

  test("keeps installed subscriptions that aren't listed, and counts them in a gauge", async () => {
    const id = "01890a5d-ac96-774b-bcce-b302099a8058";
    const input = { id, app: "lab-lantern", at: Date.now() };
    assert.equal((await send(ehr.url, { body: eventOf({ what: "created", ...input }) })).status, 200);
    await eventually("it is installed", 15_000, async () => (await statusOf("lab-lantern")) === "active");
    const gauge = async (): Promise<string | undefined> =>
      /^subscriptions_unlisted{[^}]*} (\S+)$/m.exec(await (await fetch(`${ehr.url}/metrics`)).text())?.[1];
    assert.equal(await gauge(), "0");
    assert.equal((await reconciled()).unlisted, 1);
    assert.equal(await statusOf("lab-lantern"), "active");
    assert.equal(await gauge(), "1");
    assert.equal(
      (await send(ehr.url, { body: eventOf({ what: "cancelled", ...input, at: input.at + 1 }) })).status,
      200,
    );
    assert.equal((await reconciled()).unlisted, 0);
    assert.equal(await gauge(), "0");
  });

  test("returns 503 and changes nothing while the marketplace or the identity provider is unavailable", async () => {
    const { serviceUrl, ownerUrl: other } = await cloneDatabase(cleanUp, "ehr");
    await storeApps(other, ["northwind-scribe"]);
    for (const unavailable of [
      { MARKETPLACE_URL: "http://127.0.0.1:9/api/v1" },
      { MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token" },
    ]) {
      const alone = await startEhr(cleanUp, serviceUrl, { ...environment, ...unavailable });
      const delivered = eventOf({ what: "created", id: "01890a5d-ac96-774b-bcce-b302099a8059", at: Date.now() });
      await send(alone.url, { body: delivered });
      const earlier = await readInstallationRows(other);
      const response = await requestReconciliation(riverside, alone.url);
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "30");
      const said = (await response.json()) as { success: boolean; message: string };
      assert.equal(said.success, false);
      assert.doesNotMatch(said.message, /127\.0\.0\.1|ECONN|fetch/);
      assert.deepEqual(await readInstallationRows(other), earlier);
    }
  });

  test("returns 404 for an unknown organisation, and 409 for a refused one or without credentials", async () => {
    assert.equal((await requestReconciliation("nobodys-clinic")).status, 404);
    const url = `${ehr.url}/api/admin/organisations/closed-clinic/secret`;
    const put = { method: "PUT", body: { secret: "the secret of the closed" } };
    assert.equal((await sendRequest(url, marketplace.callers.token("operator"), put)).status, 201);
    const refused = await requestReconciliation("closed-clinic");
    assert.equal(refused.status, 409);
    assert.match(
      ((await refused.json()) as { message: string }).message,
      /the marketplace refuses this service's token for closed-clinic \(403: .+\); check that the token has the role/,
    );
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const without = await startEhr(cleanUp, serviceUrl, { ...environment, MARKETPLACE_TOKEN_URL: "" });
    assert.equal((await requestReconciliation(riverside, without.url)).status, 409);
  });

  test("reports the time since the oldest reconciliation by an index, and keeps other metrics if the database fails", async () => {
    const oldest = async (url = ehr.url): Promise<number | undefined> => {
      const said = await (await fetch(`${url}/metrics`)).text();
      assert.match(said, /^launches_total|^# HELP launches_total/m);
      const value = /^reconciliation_oldest_seconds{[^}]*} (\S+)$/m.exec(said)?.[1];
      return value === undefined ? undefined : Number(value);
    };
    await withClient(ownerUrl, async (client) => {
      await client.query("update organisations set reconciled_at = now()");
      await client.query(
        "update organisations set reconciled_at = null, created_at = now() - interval '3 days' where alias = $1",
        [hilltop],
      );
      await client.query("set enable_seqscan = off");
      const plan = await client.query(
        "explain select coalesce(reconciled_at, created_at) as since from organisations order by since limit 1",
      );
      assert.match(JSON.stringify(plan.rows), /organisations_longest_unreconciled/);
    });
    const waited = (await oldest()) ?? 0;
    assert.ok(waited >= 3 * 86_400 && waited < 3 * 86_400 + 600, `${waited} s`);
    await reconciled(hilltop);
    assert.ok(((await oldest()) ?? 86_400) < 600);
    await withClient(ownerUrl, (client) => client.query("revoke select on organisations from ehr_service"));
    assert.equal(await oldest(), undefined);
    await withClient(ownerUrl, (client) => client.query("grant select on organisations to ehr_service"));
    assert.notEqual(await oldest(), undefined);
  });

  test("runs one job for each organisation every night", async () => {
    const lost = await subscribe("refill-robin");
    assert.ok(lost.id);
    await withClient(ownerUrl, (client) =>
      client.query("update organisations set reconciled_at = now() - interval '1 day'"),
    );
    await withClient(ownerUrl, (client) => client.query("delete from pgboss.job where name = 'reconciliations'"));
    const jobs = () =>
      withClient(ownerUrl, async (client) => {
        const found = await client.query<{ data: { alias: string } }>(
          "select data from pgboss.job where name = 'reconciliations' and state = 'created' order by data ->> 'alias'",
        );
        return found.rows.map(({ data }) => data.alias);
      });
    await requestAllReconciliations(reconciling, () => 1);
    await requestAllReconciliations(reconciling, () => 1);
    assert.deepEqual(await jobs(), ["closed-clinic", hilltop, riverside]);
    await withClient(ownerUrl, (client) => client.query("update pgboss.job set start_after = now()"));
    await eventually("both are reconciled", 20_000, async () => (await statusOf("refill-robin")) === "active");
    await eventually("no job is left", 20_000, async () => (await jobs()).length === 0);
    // Organisations that were reconciled tonight are skipped; a refused one is retried every night.
    await eventually("the refused one is done with", 20_000, async () => {
      await requestAllReconciliations(reconciling, () => 1);
      return JSON.stringify(await jobs()) === JSON.stringify(["closed-clinic"]);
    });
  });

  test("reconciles an organisation immediately after its secret changes, also while its nightly job is queued", async () => {
    await withClient(ownerUrl, async (client) => {
      await client.query("update organisations set reconciled_at = now() - interval '1 day' where alias = $1", [
        hilltop,
      ]);
      await client.query("delete from pgboss.job where name = 'reconciliations'");
    });
    await requestAllReconciliations(reconciling, () => 1);
    await subscribe("cuffline", hilltop);
    const url = `${ehr.url}/api/admin/organisations/${hilltop}/secret`;
    const put = { method: "PUT", body: { secret: "another secret of hilltop" } };
    assert.equal((await sendRequest(url, marketplace.callers.token("operator"), put)).status, 200);
    await eventually("it is reconciled", 20_000, async () => (await statusOf("cuffline", hilltop)) === "active");
  });
});
