-- Every plan as responses show it. A subscription shows its plan also when the plan is no longer on sale.
create view plan_records as
select
  plan.id,
  plan.app_id,
  plan.position,
  plan.pricing_model,
  plan.currency,
  plan.amount,
  plan.interval,
  plan.published_at is not null and plan.retired_at is null as on_sale,
  row_to_json(wire) as dto
from pricing_plans plan
cross join lateral (
  select
    plan.id,
    plan.name,
    plan.description,
    plan.pricing_model as "pricingModel",
    plan.currency,
    wire_amount(plan.amount) as amount,
    plan.interval,
    plan.trial_days as "trialDays",
    plan.unit_name as "unitName",
    plan.included_units as "includedUnits",
    plan.tiers,
    plan.tier_mode as "tierMode",
    plan.metric,
    plan.aggregation,
    plan.features
) wire;
grant select on plan_records to marketplace_service;

-- The same rows and texts as before, so the stored listings stay as they are.
create or replace view plans_on_sale as
select id, app_id, position, pricing_model, currency, amount, interval, dto::text as dto
from plan_records
where on_sale;

-- The list of all subscriptions by app or vendor and pause reason; otherwise it would read all paused subscriptions of an app.
create index subscriptions_of_app_paused_by_reason on subscriptions (app_id, pause_reason, created_at, id)
  where status = 'paused';
