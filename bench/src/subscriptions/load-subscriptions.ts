import { withClient } from "@ehr-marketplace/test-kit";

const perOrganisation = 4;

/** Inserts live subscriptions, four per organisation, each with its event and audit entry. */
export async function loadSubscriptions(ownerUrl: string, count: number): Promise<void> {
  const organisations = Math.ceil(count / perOrganisation);
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
       select gen_random_uuid(), 'clinic-' || n, 'Clinic ' || n, '1.none', now(), now() from generate_series(1, $1) n`,
      [organisations],
    );
    await client.query(
      `with offers as (
         select row_number() over (order by app.id) - 1 as nth, count(*) over () as total, app.id as app_id, plan.id as plan_id
         from apps app join lateral (select id from pricing_plans where app_id = app.id limit 1) plan on true
       ), practices as (select id, row_number() over (order by id) as n from organisations)
       insert into subscriptions
         (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
       select gen_random_uuid(), practices.id, offers.app_id, offers.plan_id, 'active', at, at, 1
       from practices
       cross join generate_series(0, $1 - 1) as i
       join offers on offers.nth = (practices.n * 7919 + i * 31) % offers.total
       cross join lateral (select now() - (practices.n % 700 + i) * interval '1 day' as at) times`,
      [perOrganisation],
    );
    await client.query(
      `insert into events (id, event, subscription_id, sequence, occurred_at, payload)
       select gen_random_uuid(), 'subscription.created', id, 1, created_at, repeat('x', 600) from subscriptions`,
    );
    await client.query(
      `insert into audit_entries
         (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id, request_id, after)
       select gen_random_uuid(), s.created_at, 'https://id.example', 'admin', 'org-admin', o.alias, 'subscription.create',
         'subscription', s.id::text, gen_random_uuid()::text, json_build_object('status', 'active', 'padding', repeat('x', 400))
       from subscriptions s join organisations o on o.id = s.organisation_id`,
    );
    await client.query("vacuum (analyze) organisations, subscriptions, events, audit_entries, apps, pricing_plans");
    const { rows } = await client.query<{ count: number }>("select count(*)::int from subscriptions");
    if (rows[0]?.count !== organisations * perOrganisation)
      throw new Error(`${rows[0]?.count} were loaded, not ${count}`);
  });
}

/** Inserts organisations without subscriptions, which the measured creates use. */
export async function loadNewcomers(ownerUrl: string, count: number): Promise<void> {
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
       select gen_random_uuid(), 'newcomer-' || n, 'Newcomer ' || n, '1.none', now(), now() from generate_series(1, $1) n`,
      [count],
    ),
  );
}
