import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type CleanUp, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { collectPlans, explainStatements } from "@ehr-marketplace/tests/support/executed-plans";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import type { SubscriptionChange } from "../events/event.ts";

export interface Backlogged {
  connected: ServiceConnection<DB>;
  plans: ReturnType<typeof collectPlans>;
  /** Runs a statement as the owner; it is not among the plans. */
  run: <T extends object>(sql: string, ...values: unknown[]) => Promise<T[]>;
  /** One for each subscription, without what happened. */
  changes: Omit<SubscriptionChange, "event" | "sequence" | "occurredAt" | "pauseReason">[];
  /** The vendor's endpoint, the recipient of half of all deliveries. */
  endpointId: string;
}

const practices = 1_000;
const eventsEach = 50;

/**
 * A database with 100,000 waiting deliveries whose statistics know nothing of them: those of `stale` were taken when as many were
 * delivered and none waited; those of `empty` when there were none at all, and its connections have planned every use case then.
 */
export async function startBacklogged(
  cleanUp: CleanUp,
  statistics: "stale" | "empty",
  useOnce: (unloaded: Backlogged) => Promise<void>,
): Promise<Backlogged> {
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const run = <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query<T>(sql, values)).rows);
  const registered = await registerPractices(ownerUrl, { count: practices, callbackUrl: "http://127.0.0.1:9" });
  const endpointId = uuid();
  await run(insertEndpoint, endpointId);
  const changes = await run<Backlogged["changes"][number]>(
    insertSubscriptions,
    registered.map(({ id }) => id),
  );
  for (const table of ["deliveries", "events", "recipients", "subscriptions"]) {
    await run(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  if (statistics === "stale") await run(insertDeliveries, 1_000, eventsEach, "delivered", endpointId);
  await run("analyze deliveries, events, recipients, subscriptions");
  await explainStatements({ ownerUrl, serviceUrl });
  const connected = await connectAsService<DB>(cleanUp, serviceUrl, { poolSize: 1, statementTimeoutMs: 60_000 });
  const given = { connected, plans: collectPlans(connected.pool), run, changes, endpointId };
  if (statistics === "empty") await useOnce(given);
  await run(insertDeliveries, 2_000, eventsEach, "waiting", endpointId);
  return given;
}

const insertEndpoint = `
  insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
  select $1, vendor_id, 'http://127.0.0.1:9', '{subscription.paused,subscription.resumed}', '1.unread', now(), now()
  from apps where slug = 'northwind-scribe'`;

const insertSubscriptions = `
  with offer as (
    select apps.id, slug, vendor_id, plan.id as plan_id from apps join pricing_plans plan on app_id = apps.id
    where slug = 'northwind-scribe' limit 1
  ), made as (
    insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
    select mint_uuid(), practice, offer.id, plan_id, 'active', now(), now(), 1 from offer, unnest($1::uuid[]) practice
    returning id, organisation_id
  )
  select json_build_object('id', made.id, 'status', 'active', 'orgAlias', alias) as subscription,
    organisation_id as "organisationId", offer.vendor_id as "vendorId",
    json_build_object('id', offer.id, 'slug', slug, 'name', 'Scribe', 'iconUrl', 'https://a.example/icon.svg',
      'category', 'DOCUMENTATION', 'extensionPoints', '[]'::json, 'smartLaunchUrl', null, 'fhirScopes', '') as app
  from made join organisations on organisations.id = organisation_id, offer`;

/** For each subscription so many events, each with a delivery to its EHR and one to the endpoint. */
const insertDeliveries = `
  with made as (
    insert into events (id, event, subscription_id, sequence, occurred_at, payload)
    select mint_uuid(), 'subscription.paused', s.id, n, now() - interval '1 hour', '{}'
    from subscriptions s, generate_series($1::int, $1 + $2 - 1) n
    returning id, subscription_id, sequence, occurred_at
  )
  insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at, settled_at)
  select mint_uuid(), made.id, recipient, subscription_id, made.sequence, $3::text,
    occurred_at + made.sequence * interval '1 ms', case $3 when 'delivered' then now() end
  from made join subscriptions s on s.id = subscription_id, unnest(array[s.organisation_id, $4::uuid]) recipient`;
