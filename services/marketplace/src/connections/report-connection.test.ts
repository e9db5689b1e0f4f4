import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type {
  AuditPage,
  ConnectionDto,
  ConnectionUpdatedEvent,
  SubscriptionDto,
  WebhookDeliveryPage,
} from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { findInconsistencies } from "@ehr-marketplace/tests/support/subscription-consistency";

const app = "northwind-scribe";
const ready = {
  status: "ready",
  clientId: "scribe-at-riverside",
  fhirBaseUrl: "https://ehr.example/fhir/riverside-clinic",
};
const unknown = { clientId: null, fhirBaseUrl: null, reason: null };

describe("the connection of a subscription", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let endpoint: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" });
    const body = { url: "http://127.0.0.1:9/hooks", secret: "a secret of sixteen", events: ["connection.updated"] };
    const registered = await marketplace.requestAs("northwind-developer", "/developer/webhooks", { body });
    assert.equal(registered.status, 201, await registered.clone().text());
    endpoint = ((await registered.json()) as { id: string }).id;
    await marketplace.requestAs("northwind-developer", "/developer/webhooks", {
      body: { ...body, url: "http://127.0.0.1:9/others", events: ["subscription.created"] },
    });
  });

  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  /** A new subscription of the clinic; the one before is cancelled. */
  const subscribe = async (): Promise<string> => {
    const [plan] = await marketplace.plans(app);
    const listed = await json<SubscriptionDto[]>(
      marketplace.requestAs("operator", "/subscriptions?orgAlias=riverside-clinic&status=active"),
    );
    for (const { id } of listed) await cancel(id);
    const body = { appSlug: app, orgAlias: "riverside-clinic", pricingPlanId: plan?.id };
    return (await json<SubscriptionDto>(marketplace.requestAs("operator", "/subscriptions", { body }), 201)).id;
  };
  const cancel = (id: string): Promise<unknown> =>
    json(marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" }));
  const report = (id: string, body: object): Promise<Response> =>
    marketplace.requestAs("ehr-service", `/subscriptions/${id}/connection`, { method: "PUT", body });
  const read = (id: string): Promise<ConnectionDto> =>
    json(marketplace.requestAs("riverside-member", `/subscriptions/${id}/connection`));
  const eventsOf = async (id: string): Promise<ConnectionUpdatedEvent[]> =>
    (
      await query<{ payload: string }>(
        "select payload from events where subscription_id = $1 and event = 'connection.updated' order by occurred_at",
        id,
      )
    ).map(({ payload }) => JSON.parse(payload) as ConnectionUpdatedEvent);
  const entriesOf = (id: string) =>
    query<{ before: object | null; after: object }>(
      "select before, after from audit_entries where action = 'connection.report' and target_id = $1 order by at",
      id,
    );

  test("is pending before the EHR's first report, and then what it has reported last", async () => {
    const id = await subscribe();
    assert.deepEqual(await read(id), { status: "pending", ...unknown, updatedAt: null });
    const first = await json<ConnectionDto>(report(id, ready));
    assertShape("ConnectionDto", first);
    assert.deepEqual(await read(id), first);
    assert.deepEqual({ ...first, updatedAt: null }, { ...ready, reason: null, updatedAt: null });
    const failed = { status: "failed", reason: "The authorization server refuses the redirect URI." };
    const second = await json<ConnectionDto>(report(id, failed));
    assert.deepEqual({ ...second, updatedAt: null }, { ...unknown, ...failed, updatedAt: null });
    assert.ok((second.updatedAt ?? "") > (first.updatedAt ?? ""));
    await cancel(id);
    assert.deepEqual(await read(id), second, "it stays when the subscription ends");
  });

  test("a change is recorded with its event and its audit entry, and the same report again is not", async () => {
    const id = await subscribe();
    const first = await json<ConnectionDto>(report(id, ready));
    assert.deepEqual(await json(report(id, { ...ready, reason: null })), first);
    assert.deepEqual(await json(report(id, { ...ready, reason: "  " })), first);
    const [event, ...others] = await eventsOf(id);
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(event ?? {}), ["event", "app", "subscription", "connection", "timestamp"]);
    assertShape("ConnectionUpdatedEvent", event);
    assert.deepEqual(event?.subscription, { id, status: "active", orgAlias: "riverside-clinic" });
    assert.deepEqual(event.connection, { ...ready, reason: null });
    assert.equal(event.timestamp, first.updatedAt);
    assert.equal(event.app.slug, app);
    assert.deepEqual(await entriesOf(id), [{ before: null, after: { ...ready, reason: null } }]);
    await json(report(id, { status: "pending", reason: "An operator has to register the client." }));
    assert.equal((await eventsOf(id)).length, 2);
    assert.deepEqual((await entriesOf(id)).at(1)?.before, { ...ready, reason: null });
    const audit = await json<AuditPage>(
      marketplace.requestAs(
        "riverside-admin",
        "/organisations/riverside-clinic/audit?action=connection.report&limit=1",
      ),
    );
    assert.deepEqual(
      audit.items.map(({ actor, target }) => [actor.subject, actor.role, target]),
      [["ehr-service", "ehr-service", { kind: "connection", id }]],
    );
    assert.deepEqual(await findInconsistencies(marketplace.database.ownerUrl), []);
  });

  test("its event goes to the vendor's endpoints that select it, with the subscription, and to no EHR", async () => {
    const id = await subscribe();
    await json(report(id, ready));
    const page = await json<WebhookDeliveryPage>(
      marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint}/deliveries?limit=1`),
    );
    assert.deepEqual(
      page.items.map(({ event, subscriptionId }) => [event, subscriptionId]),
      [["connection.updated", id]],
    );
    const recipients = await query<{ recipient_id: string; subscription_id: string | null }>(
      `select d.recipient_id, d.subscription_id from deliveries d join events e on e.id = event_id
       where e.event = 'connection.updated' and e.subscription_id = $1`,
      id,
    );
    assert.deepEqual(recipients, [{ recipient_id: endpoint, subscription_id: null }]);
  });

  test("its deliveries wait for a crowded endpoint, and don't prevent a test of it", async () => {
    const id = await subscribe();
    await query("update recipients set crowded = true where id = $1", endpoint);
    await json(report(id, ready));
    const statuses = await query(
      "select d.status from deliveries d join events e on e.id = event_id where e.subscription_id = $1 and e.event = 'connection.updated'",
      id,
    );
    assert.deepEqual(statuses, [{ status: "waiting" }]);
    await query(
      `insert into events (id, event, vendor_id, occurred_at, payload)
       select mint_uuid(), 'connection.updated', vendor_id, now(), '{}' from webhook_endpoints, generate_series(1, 150) where id = $1`,
      endpoint,
    );
    await query(
      `insert into deliveries (id, event_id, recipient_id, status, created_at)
       select mint_uuid(), events.id, $1, 'waiting', now() from events where payload = '{}'`,
      endpoint,
    );
    const tested = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint}/test`, {
      method: "POST",
    });
    assert.equal(tested.status, 202, await tested.clone().text());
    await query("delete from pgboss.job where name = 'deliveries'");
    await query("update deliveries set status = 'dropped', settled_at = now() where settled_at is null");
    await query("update recipients set crowded = false where id = $1", endpoint);
  });

  test("two concurrent reports are one after the other, and the same one is recorded once", async () => {
    const id = await subscribe();
    const other = { ...ready, clientId: "another" };
    const responses = await Promise.all([report(id, ready), report(id, ready), report(id, other), report(id, ready)]);
    for (const response of responses) assert.equal(response.status, 200, await response.clone().text());
    const events = await eventsOf(id);
    for (const [index, { connection }] of events.entries()) {
      assert.notDeepEqual(connection, events[index - 1]?.connection);
    }
    assert.deepEqual(events.at(-1)?.connection.clientId, (await read(id)).clientId);
    assert.equal((await entriesOf(id)).length, events.length);
  });

  for (const [what, body, pointer] of [
    ["ready without a client", { ...ready, clientId: null }, "/body/clientId"],
    ["ready without a FHIR server", { status: "ready", clientId: "a" }, "/body/fhirBaseUrl"],
    ["failed without a reason", { status: "failed", reason: " " }, "/body/reason"],
    ["an unknown status", { status: "done" }, "/body/status"],
    ["an empty client", { ...ready, clientId: "" }, "/body/clientId"],
    ["a client that no client identifier can be", { ...ready, clientId: "café" }, "/body/clientId"],
    ["a client that is too long", { ...ready, clientId: "a".repeat(2_049) }, "/body/clientId"],
    ["a URL that isn't https", { ...ready, fhirBaseUrl: "http://ehr.example/fhir" }, "/body/fhirBaseUrl"],
    ["a URL with a query", { ...ready, fhirBaseUrl: "https://ehr.example/fhir?a" }, "/body/fhirBaseUrl"],
    ["a URL with a password", { ...ready, fhirBaseUrl: "https://a:b@ehr.example/fhir" }, "/body/fhirBaseUrl"],
    ["a reason that is too long", { status: "failed", reason: "x".repeat(501) }, "/body/reason"],
    ["an unknown field", { status: "pending", secret: "a" }, "/body/secret"],
  ] as const) {
    test(`is never ${what}`, async () => {
      const problem = await assertProblem(await report(randomUUID(), body), 400, "invalid-request");
      const errors = problem["errors"] as { pointer: string }[];
      assert.ok(
        errors.some((error) => error.pointer === pointer),
        JSON.stringify(errors),
      );
    });
  }

  test("the database refuses what the service does", async () => {
    const id = await subscribe();
    const insert = (columns: string, values: string): Promise<unknown> =>
      withClient(marketplace.database.serviceUrl, (client) =>
        client.query(
          `insert into connections (subscription_id, updated_at, changed_at, ${columns}) values ($1, now(), array[now()], ${values})`,
          [id],
        ),
      );
    await assert.rejects(insert("status", "'ready'"), /connections_ready_has_client/);
    await assert.rejects(insert("status", "'failed'"), /connections_failed_has_reason/);
    await assert.rejects(insert("status, fhir_base_url", "'pending', 'http://ehr.example'"), /fhir_base_url/);
    await assert.rejects(insert("status, client_id", "'pending', 'café'"), /client_id/);
  });

  test("of a cancelled subscription can't be reported, and nobody else's exists", async () => {
    const id = await subscribe();
    await cancel(id);
    await assertProblem(await report(id, ready), 409, "subscription-cancelled");
    await assertProblem(await report(randomUUID(), ready), 404, "subscription-not-found");
    assert.deepEqual(await read(id), { status: "pending", ...unknown, updatedAt: null });
  });

  test("changes at most 30 times an hour; the same report is accepted even then", async () => {
    const id = await subscribe();
    for (let nth = 1; nth <= 30; nth += 1) await json(report(id, { ...ready, clientId: `client-${nth}` }));
    const refused = await report(id, ready);
    const problem = await assertProblem(refused, 429, "connection-changed-too-often");
    assert.match(String(problem["detail"]), /30 times within an hour/);
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 3_000 && seconds <= 3_600, String(seconds));
    await json(report(id, { ...ready, clientId: "client-30" }));
    assert.equal((await eventsOf(id)).length, 30);
    await query(
      `update connections set changed_at = array(select each - interval '1 hour' from unnest(changed_at[:29]) each) || updated_at
       where subscription_id = $1`,
      id,
    );
    await json(report(id, ready));
    const [stored] = await query<{ kept: number }>(
      "select cardinality(changed_at) as kept from connections where subscription_id = $1",
      id,
    );
    assert.equal(stored?.kept, 30);
  });
});
