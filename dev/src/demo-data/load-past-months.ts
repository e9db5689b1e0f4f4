import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";

interface PastSubscription {
  slug: string;
  plan: string;
  quantity: number | null;
}

/** In two currencies, by unit and by usage. None of them is used by a guide. */
const pastSubscriptions: PastSubscription[] = [
  { slug: "inbox-heron", plan: "Clinician", quantity: 3 },
  { slug: "fax-warbler", plan: "By the page", quantity: null },
  { slug: "inkwell-signpad", plan: "Per pad", quantity: 2 },
];

/**
 * Gives a practice statements with lines: subscriptions that began seven months ago and were cancelled last month, with their usage, events
 * and audit entries, and no deliveries. The worker closes the months as those of any practice. Existing rows stay as they are.
 */
export async function loadPastMonths(ownerUrl: string, orgAlias: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    const ids = await insertSubscriptions(client, orgAlias);
    await insertUsage(client, ids);
    await client.query("commit");
  });
}

async function insertSubscriptions(client: pg.Client, orgAlias: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `with past as (
       insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, quantity, status, created_at, updated_at, cancelled_at, revision)
       select mint_uuid(), organisation.id, app.id, plan.id, given.quantity, 'cancelled', began, ended, ended, 2
       from unnest($2::text[], $3::text[], $4::integer[]) with ordinality as given (slug, plan, quantity, nth)
       join organisations organisation on organisation.alias = $1
       join apps app on app.slug = given.slug
       join pricing_plans plan on plan.app_id = app.id and plan.name = given.plan and plan.published_at is not null
       cross join lateral (select date_trunc('month', now(), 'UTC') as this_month) today
       cross join lateral (
         select this_month - interval '7 months' + nth * interval '4 days 9 hours' as began, this_month - nth * interval '4 days' as ended
       ) times
       where not exists (
         select from subscriptions s where s.organisation_id = organisation.id and s.app_id = app.id
       )
       returning *
     ),
     periods as (
       insert into active_periods (subscription_id, from_at, to_at, pricing_plan_id, quantity)
       select id, created_at, cancelled_at, pricing_plan_id, quantity from past
     ),
     changes as (
       select past.*, app.slug, change.*, json_build_object(
           'id', app.id, 'slug', app.slug, 'name', app.name, 'iconUrl', app.icon_url, 'category', app.category,
           'extensionPoints', app.extension_points, 'smartLaunchUrl', app.smart_launch_url, 'fhirScopes', app.fhir_scopes
         ) as app,
         json_build_object('id', past.id, 'appId', app.id, 'appSlug', app.slug, 'orgAlias', $1::text,
           'pricingPlanId', past.pricing_plan_id, 'quantity', past.quantity, 'status', new_status, 'pauseReason', null,
           'trialEndsAt', null, 'createdAt', wire_instant(past.created_at), 'updatedAt', wire_instant(at), 'pausedAt', null,
           'cancelledAt', case new_status when 'cancelled' then wire_instant(at) end, 'blockReason', null) as recorded
       from past join apps app on app.id = app_id cross join lateral (
         values (1, 'create', 'created', 'active', past.created_at), (2, 'cancel', 'cancelled', 'cancelled', past.cancelled_at)
       ) change (sequence, action, event, new_status, at)
     ),
     events as (
       insert into events (id, event, subscription_id, sequence, occurred_at, payload)
       select mint_uuid(), 'subscription.' || event, id, sequence, at, json_build_object(
           'event', 'subscription.' || event, 'app', app,
           'subscription', json_build_object('id', id, 'status', new_status, 'orgAlias', $1::text), 'timestamp', wire_instant(at)
         )::text
       from changes
     ),
     audited as (
       insert into audit_entries (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id,
         request_id, before, after)
       select mint_uuid(), at, 'demo data', 'demo data', 'org-admin', $1, 'subscription.' || action, 'subscription', id, 'demo data',
         lag(recorded) over (partition by id order by sequence), recorded
       from changes
     )
     select id from past`,
    [
      orgAlias,
      pastSubscriptions.map(({ slug }) => slug),
      pastSubscriptions.map(({ plan }) => plan),
      pastSubscriptions.map(({ quantity }) => quantity),
    ],
  );
  return rows.map(({ id }) => id);
}

/** An hour of each working day. */
async function insertUsage(client: pg.Client, ids: string[]): Promise<void> {
  await client.query(
    `with hours as (
       insert into usage_hours (subscription_id, hour, metric, aggregation, plan_id, quantity, record_count)
       select subscription.id, day + interval '15 hours', plan.metric, plan.aggregation, plan.id, 40 + extract(day from day at time zone 'UTC')::int * 7 % 60, 1
       from subscriptions subscription join pricing_plans plan on plan.id = pricing_plan_id,
         generate_series(date_trunc('day', created_at, 'UTC') + interval '1 day', cancelled_at - interval '1 day', interval '1 day') day
       where subscription.id = any ($1) and plan.pricing_model = 'USAGE' and extract(isodow from day at time zone 'UTC') < 6
       returning *
     )
     insert into usage_days (subscription_id, day, metric, aggregation, plan_id, quantity, record_count)
     select subscription_id, (hour at time zone 'UTC')::date, metric, aggregation, plan_id, quantity, record_count from hours`,
    [ids],
  );
}
