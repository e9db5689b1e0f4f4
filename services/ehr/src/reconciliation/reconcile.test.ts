import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  askAt,
  cleanUpAfter,
  cloneDatabase,
  connectTo,
  eventually,
  type PeopledMarketplace,
  type RunningEhr,
  startEhr,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import { createAppReader } from "../apps/read-app.ts";
import type { DB } from "../database-schema.ts";
import {
  eventOf,
  hilltop,
  installationsIn,
  knowApps,
  riverside,
  send,
} from "../marketplace-events/events.test-support.ts";
import { createSubscriptionList } from "./marketplace-subscriptions.ts";
import { createMarketplaceToken } from "./marketplace-token.ts";
import { type Reconciled, type Reconciling, reconcile } from "./reconcile.ts";
import { requestAllReconciliations } from "./reconcile-by-jobs.ts";

describe("held against the marketplace's own list", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  let environment: Record<string, string>;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let reconciling: Reconciling;

  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
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

    const connected = await connectTo<DB>(cleanUp, database.serviceUrl);
    const token = createMarketplaceToken(credentials, connected.clock);
    reconciling = {
      ...connected,
      countCorrections: () => undefined,
      listSubscriptions: createSubscriptionList(
        `${marketplace.url}/api/v1`,
        token,
        createAppReader({ allowsHttp: true }),
      ),
    };
  });

  const subscribe = async (appSlug: string, orgAlias = riverside): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    return (await (await marketplace.as("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const change = async ({ id }: SubscriptionDto, command: string, body?: object): Promise<SubscriptionDto> => {
    const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
    const answer = await marketplace.as("operator", `/subscriptions/${id}/${command}`, asking);
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as SubscriptionDto;
  };
  const ask = (alias: string, url = ehr.url): Promise<Response> =>
    askAt(`${url}/api/admin/organisations/${alias}/reconcile`, marketplace.callers.token("operator"), {
      method: "POST",
    });
  const reconciled = async (alias = riverside): Promise<Reconciled> => {
    const answer = await ask(alias);
    const said = (await answer.json()) as { message: string; data: Reconciled };
    assert.equal(answer.status, 200, said.message);
    return said.data;
  };
  const statusOf = async (slug: string, alias = riverside): Promise<string | undefined> =>
    (await installationsIn(ownerUrl)).find((row) => row.app_slug === slug && row.org_alias === alias)?.status;
  const tell = async (what: Parameters<typeof eventOf>[0]["what"], dto: SubscriptionDto): Promise<void> => {
    const body = eventOf({ what, id: dto.id, app: dto.appSlug, at: Date.parse(dto.updatedAt) });
    assert.equal((await send(ehr.url, { body })).status, 200);
  };

  test("what was lost is made up for in both directions, and the second time there is nothing to do", async () => {
    // Nothing of this arrives: no worker runs.
    await subscribe("northwind-scribe");
    const paused = await change(await subscribe("cuffline"), "pause", { reason: "ORG_REQUEST" });
    const told = await subscribe("quiet-room");
    await tell("created", told);
    await eventually("it is installed", 15_000, async () => (await statusOf("quiet-room")) === "active");
    await change(told, "cancel");

    const { checked, changed, unlisted } = await reconciled();
    assert.deepEqual({ checked, changed, unlisted }, { checked: 3, changed: 3, unlisted: 0 });
    assert.equal(await statusOf("northwind-scribe"), "active");
    assert.equal(await statusOf("cuffline"), "paused");
    assert.equal(await statusOf("quiet-room"), "removed");
    const again = await reconciled();
    assert.equal(again.changed, 0);

    // The events come after all, as old as they are.
    const earlier = await installationsIn(ownerUrl);
    await tell("created", told);
    await tell("created", { ...paused, updatedAt: paused.createdAt });
    await tell("paused", paused);
    assert.deepEqual(await installationsIn(ownerUrl), earlier);
  });

  test("of an app that no event told of, the marketplace says what it is", async () => {
    await subscribe("northwind-scribe", hilltop);
    await reconciled(hilltop);
    const [catalog] = (await (await marketplace.get("/apps/search?q=northwind+scribe")).json()) as { name: string }[];
    const url = `${ehr.url}/api/app-installations/northwind-scribe`;
    const answer = await askAt(url, marketplace.callers.token("hilltop-admin"), {});
    const { data } = (await answer.json()) as { data: { name: string; status: string } | null };
    assert.deepEqual([data?.name, data?.status], [catalog?.name, "active"]);
  });

  test("an event that arrives between the list and its application wins by its time", async () => {
    const created = await subscribe("cafe-intake");
    assert.ok(created.id);
    await tell("created", created);
    await eventually("it is installed", 15_000, async () => (await statusOf("cafe-intake")) === "active");
    const paused = await change(created, "pause", { reason: "ORG_REQUEST" });
    const late: Reconciling = {
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

  test("what is installed here and not listed there is left as it is, and counted by a gauge", async () => {
    const id = "01890a5d-ac96-774b-bcce-b302099a8058";
    const told = { id, app: "lab-lantern", at: Date.now() };
    assert.equal((await send(ehr.url, { body: eventOf({ what: "created", ...told }) })).status, 200);
    await eventually("it is installed", 15_000, async () => (await statusOf("lab-lantern")) === "active");
    const gauge = async (): Promise<string | undefined> =>
      /^subscriptions_unlisted{[^}]*} (\S+)$/m.exec(await (await fetch(`${ehr.url}/metrics`)).text())?.[1];
    assert.equal(await gauge(), "0");
    assert.equal((await reconciled()).unlisted, 1);
    assert.equal(await statusOf("lab-lantern"), "active");
    assert.equal(await gauge(), "1");
    assert.equal((await send(ehr.url, { body: eventOf({ what: "cancelled", ...told, at: told.at + 1 }) })).status, 200);
    assert.equal((await reconciled()).unlisted, 0);
    assert.equal(await gauge(), "0");
  });

  test("a marketplace that is down, or an identity provider that is, harms nothing: 503 in the wrapper", async () => {
    const { serviceUrl, ownerUrl: other } = await cloneDatabase(cleanUp, "ehr");
    await knowApps(other, ["northwind-scribe"]);
    for (const away of [
      { MARKETPLACE_URL: "http://127.0.0.1:9/api/v1" },
      { MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token" },
    ]) {
      const alone = await startEhr(cleanUp, serviceUrl, { ...environment, ...away });
      const delivered = eventOf({ what: "created", id: "01890a5d-ac96-774b-bcce-b302099a8059", at: Date.now() });
      await send(alone.url, { body: delivered });
      const earlier = await installationsIn(other);
      const answer = await ask(riverside, alone.url);
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("retry-after"), "30");
      const said = (await answer.json()) as { success: boolean; message: string };
      assert.equal(said.success, false);
      assert.doesNotMatch(said.message, /127\.0\.0\.1|ECONN|fetch/);
      assert.deepEqual(await installationsIn(other), earlier);
    }
  });

  test("an organisation that nobody knows is 404; one that the marketplace keeps from us 409; without credentials, 409", async () => {
    assert.equal((await ask("nobodys-clinic")).status, 404);
    const url = `${ehr.url}/api/admin/organisations/closed-clinic/secret`;
    const put = { method: "PUT", body: { secret: "the secret of the closed" } };
    assert.equal((await askAt(url, marketplace.callers.token("operator"), put)).status, 201);
    const refused = await ask("closed-clinic");
    assert.equal(refused.status, 409);
    assert.match(
      ((await refused.json()) as { message: string }).message,
      /the marketplace refuses this service's token for closed-clinic \(403: .+\); check that the token has the role/,
    );
    const { serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const without = await startEhr(cleanUp, serviceUrl, { ...environment, MARKETPLACE_TOKEN_URL: "" });
    assert.equal((await ask(riverside, without.url)).status, 409);
  });

  test("metrics tell how long the one that has waited longest waits, by an index, and go on where nobody can tell", async () => {
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

  test("every night there is one job for each organisation, and it is done", async () => {
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
    // Whoever was reconciled tonight is left alone; the one that is refused is asked about every night.
    await eventually("the refused one is done with", 20_000, async () => {
      await requestAllReconciliations(reconciling, () => 1);
      return JSON.stringify(await jobs()) === JSON.stringify(["closed-clinic"]);
    });
  });

  test("whoever's secret is another is held against it at once, also while the night's job for it waits its turn", async () => {
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
    assert.equal((await askAt(url, marketplace.callers.token("operator"), put)).status, 200);
    await eventually("it is reconciled", 20_000, async () => (await statusOf("cuffline", hilltop)) === "active");
  });
});
