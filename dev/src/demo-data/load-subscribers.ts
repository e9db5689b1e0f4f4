import { randomBytes } from "node:crypto";
import { secretOwner } from "@ehr-marketplace/marketplace/organisation";
import { rankCatalog } from "@ehr-marketplace/marketplace/rank-catalog";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";
import { v7 as uuid } from "uuid";
import { withDatabase } from "../catalog/with-database.ts";
import { developmentEncryptionKeys, loopbackNetworks } from "../service-environments.ts";
import { demoApps } from "./apps.ts";

const places = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Hazel", "Juniper", "Linden", "Maple"];
const kinds = ["Clinic", "Family Practice", "Medical Group", "Paediatrics", "Health Centre", "Surgery"];
const names = kinds.flatMap((kind) => places.map((place) => `${place} Street ${kind}`));
const aliasOf = (name: string): string => name.toLowerCase().replaceAll(" ", "-");

/**
 * Creates practices that subscribe to the demo's apps, so that popularity is the number of live subscriptions here too. Each
 * subscription has its event and its audit entry, with times in the past, and no deliveries. Existing rows stay as they are.
 */
export async function loadSubscribers(ownerUrl: string, callbackUrl: string, count = names.length): Promise<void> {
  const practices = names.slice(0, count);
  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    await insertPractices(client, practices, callbackUrl);
    await insertSubscriptions(client, practices);
    await client.query("commit");
  });
  await withDatabase(ownerUrl, (database, { logger }) => rankCatalog(database, { logger }));
}

async function insertPractices(client: pg.Client, practices: string[], callbackUrl: string): Promise<void> {
  const seal = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const made = practices.map((name) => ({ id: uuid(), alias: aliasOf(name), name }));
  await client.query(
    `insert into organisations
       (id, alias, display_name, callback_url, callback_networks, encrypted_secret, created_at, updated_at)
     select id, alias, name, $5, $6::cidr[], sealed, '2023-01-01', '2023-01-01'
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (id, alias, name, sealed)
     on conflict (alias) do nothing`,
    [
      made.map(({ id }) => id),
      made.map(({ alias }) => alias),
      made.map(({ name }) => name),
      made.map(({ id }) => seal.encrypt(randomBytes(32).toString("base64"), secretOwner(id))),
      callbackUrl,
      loopbackNetworks,
    ],
  );
}

async function insertSubscriptions(client: pg.Client, practices: string[]): Promise<void> {
  const wanted = demoApps("").flatMap(({ slug, subscribers }) =>
    practices.slice(0, subscribers).map((name, nth) => ({ slug, alias: aliasOf(name), days: nth + 1 })),
  );
  await client.query(
    `with subscribed as (
       insert into subscriptions
         (id, organisation_id, app_id, pricing_plan_id, quantity, status, created_at, updated_at, revision)
       select mint_uuid(), organisation.id, app.id, plan.id,
         case when plan.pricing_model in ('PER_UNIT', 'TIERED') then 1 end, 'active', made.at, made.at, 1
       from unnest($1::text[], $2::text[], $3::integer[]) as wanted (slug, alias, days)
       join organisations organisation on organisation.alias = wanted.alias
       join apps app on app.slug = wanted.slug
       cross join lateral (
         select id, pricing_model from pricing_plans where app_id = app.id and published_at is not null and retired_at is null
         order by position limit 1
       ) plan
       cross join lateral (
         select least(app.published_at, '2025-10-01') + wanted.days * interval '1 day' as at
       ) made
       where not exists (
         select from subscriptions s where s.organisation_id = organisation.id and s.app_id = app.id
       )
       returning id, organisation_id, app_id, pricing_plan_id, quantity, created_at
     ),
     named as (
       select subscribed.*, organisation.alias, app.slug, wire_instant(subscribed.created_at) as at, json_build_object(
           'id', app.id, 'slug', app.slug, 'name', app.name, 'iconUrl', app.icon_url, 'category', app.category,
           'extensionPoints', app.extension_points, 'smartLaunchUrl', app.smart_launch_url, 'fhirScopes', app.fhir_scopes
         ) as app
       from subscribed join organisations organisation on organisation.id = organisation_id join apps app on app.id = app_id
     ),
     recorded as (
       insert into events (id, event, subscription_id, sequence, occurred_at, payload)
       select mint_uuid(), 'subscription.created', id, 1, created_at, json_build_object(
           'event', 'subscription.created', 'app', app,
           'subscription', json_build_object('id', id, 'status', 'active', 'orgAlias', alias), 'timestamp', at
         )::text
       from named
     )
     insert into audit_entries (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind,
       target_id, request_id, before, after)
     select mint_uuid(), created_at, 'demo data', 'demo data', 'operator', alias, 'subscription.create', 'subscription', id,
       'demo data', null, json_build_object('id', id, 'appId', app_id, 'appSlug', slug, 'orgAlias', alias,
         'pricingPlanId', pricing_plan_id, 'quantity', quantity, 'status', 'active', 'pauseReason', null,
         'trialEndsAt', null, 'createdAt', at, 'updatedAt', at, 'pausedAt', null, 'cancelledAt', null, 'blockReason', null)
     from named`,
    [wanted.map(({ slug }) => slug), wanted.map(({ alias }) => alias), wanted.map(({ days }) => days)],
  );
}
