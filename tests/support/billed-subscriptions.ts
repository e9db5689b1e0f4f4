import { registerPractices } from "@ehr-marketplace/dev/practices";
import { withClient } from "@ehr-marketplace/test-kit";

/**
 * Practices with subscriptions to apps of several vendors, in two currencies, with all that makes months differ: pauses, trials, changes of
 * plan, cancellations, and usage. The first ones begin on the third day after `from`.
 */
export async function insertBilledSubscriptions(ownerUrl: string, practices: number, from: Date): Promise<void> {
  const prefix = "billed";
  await registerPractices(ownerUrl, { count: practices, callbackUrl: null, prefix });
  await withClient(ownerUrl, async (client) => {
    await client.query("select setseed(0.5)");
    await client.query(
      `insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, unit_name, metric, aggregation, published_at)
       select md5(slug || name || $1)::uuid, apps.id, position, name, '', model, currency, amount, 'MONTH', unit_name, metric, aggregation, now()
       from (
           select id, slug, row_number() over (order by vendor_slug not in ('northwind-health', 'lumen-medical'), slug) as nth from (
             select distinct on (vendors.slug) apps.id, apps.slug, vendors.slug as vendor_slug
             from apps join vendors on vendors.id = vendor_id order by vendors.slug, apps.slug
           ) first_of_vendor
         ) apps,
         (values ('=Seats', 'PER_UNIT', 1000, 101, 'seat', null, null), ('Flat', 'FLAT', 9999, 102, null, null, null),
           ('Notes', 'USAGE', 0.35, 103, null, 'notes', 'SUM')) plans (name, model, amount, position, unit_name, metric, aggregation),
         (values ('USD'), ('EUR')) currencies (currency)
       where nth <= 6 and currency = case when nth % 3 = 0 then 'EUR' else 'USD' end`,
      [prefix],
    );
    await client.query(
      `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, quantity, status, trial_ends_at, created_at, updated_at, revision,
         fhir_scopes)
       select md5(alias || plans.id::text)::uuid, organisations.id, app_id, plans.id,
         case plans.pricing_model when 'PER_UNIT' then 1 + (random() * 20)::int end, 'active',
         case when random() < 0.2 then began + interval '14 days' end, began, began, 1, ''
       from organisations, lateral (
         select *, $2::timestamptz + interval '2 days' + random() * interval '120 days' + length(alias) * interval '0' as began
         from (
           select distinct on (app_id) * from pricing_plans where position > 100
           order by app_id, md5(id::text || alias)
         ) plans
       ) plans
       where alias like $1 || '-%'`,
      [prefix, from],
    );
    // In the order of time, so that the triggers remember what was before.
    await client.query(
      `create temporary table lives as
       select subscriptions.id, subscriptions.created_at, (array['active', 'active', 'active', 'paused', 'cancelled'])[1 + floor(random() * 5)::int] as status,
         subscriptions.created_at + interval '1 day' + random() * interval '90 days' as cancelled_at, random() < 0.2 as is_paused, random() < 0.3 as is_changed
       from subscriptions join organisations on organisations.id = organisation_id where alias like $1 || '-%'`,
      [prefix],
    );
    const change = (set: string, after: string, condition: string): Promise<unknown> =>
      client.query(
        `update subscriptions set ${set}, updated_at = lives.created_at + interval '${after}', revision = revision + 1 from lives
         where lives.id = subscriptions.id and (${condition})
           and (lives.status <> 'cancelled' or lives.cancelled_at > lives.created_at + interval '16 days')`,
      );
    const paused = (after: string): string =>
      `status = 'paused', pause_reason = 'ORG_REQUEST', paused_at = lives.created_at + interval '${after}'`;
    await change(paused("10 days"), "10 days", "is_paused");
    await change("status = 'active', pause_reason = null, paused_at = null", "15 days", "is_paused");
    await change("quantity = quantity + 3", "15 days 5 hours", "is_changed and quantity is not null");
    await change(paused("40 days"), "40 days", "lives.status = 'paused'");
    await client.query(
      `update subscriptions set status = 'cancelled', cancelled_at = lives.cancelled_at, updated_at = lives.cancelled_at, revision = revision + 1
       from lives where lives.id = subscriptions.id and lives.status = 'cancelled'`,
    );
    await client.query("drop table lives");
    // Each row of the hours and days would check its foreign key.
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into usage_hours (subscription_id, hour, metric, aggregation, plan_id, quantity, record_count)
       select subscriptions.id, date_trunc('hour', created_at at time zone 'UTC') at time zone 'UTC' + nth * interval '37 hours', 'notes', 'SUM',
         pricing_plan_id,
         round((random() * 500)::numeric, 2), 1
       from subscriptions join pricing_plans on pricing_plans.id = pricing_plan_id, generate_series(1, 60) nth
       where position = 103`,
    );
    await client.query(
      `insert into usage_days (subscription_id, day, metric, aggregation, plan_id, quantity, record_count)
       select subscription_id, (hour at time zone 'UTC')::date as day, metric, aggregation, plan_id, sum(quantity), sum(record_count)
       from usage_hours group by subscription_id, day, metric, aggregation, plan_id`,
    );
    await client.query("reset session_replication_role");
    await client.query("update vendors set commission_percent = 12.5 where slug <> 'northwind-health'");
    await client.query("analyze subscriptions");
  });
}

/** The content of the tables of closed months. */
export async function readClosedStatements(ownerUrl: string): Promise<string> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ line: string }>(
      `select 'line ' || row_to_json(closed_lines)::text as line from closed_lines
       union all select 'total ' || row_to_json(closed_totals)::text from closed_totals
       union all select 'commission ' || row_to_json(closed_commissions)::text from closed_commissions
       union all select 'month ' || month || ' ' || status || ' ' || done from statement_months where status = 'closed'
       order by 1`,
    );
    return rows.map(({ line }) => line).join("\n");
  });
}
