-- Usage belongs to the plan that was in force when it occurred, and that of a trial is free: hours and days are kept by plan.
alter table usage_records add column plan_id uuid, add column is_trial boolean not null default false;
alter table usage_hours add column plan_id uuid, add column is_trial boolean not null default false;
alter table usage_days add column plan_id uuid, add column is_trial boolean not null default false;

-- Until now it belonged to the plan at the start of its day.
create function plan_at_start_of(subscription uuid, day date) returns uuid
  language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(
    (
      select pricing_plan_id from ended_terms
      where subscription_id = subscription and ended_at > day::timestamp at time zone 'UTC' order by ended_at limit 1
    ),
    (select pricing_plan_id from subscriptions where id = subscription)
  )
$$;
update usage_days set plan_id = plan_at_start_of(subscription_id, day),
  is_trial = coalesce(day::timestamp at time zone 'UTC' < (select trial_ends_at from subscriptions where id = subscription_id), false);
update usage_hours set (plan_id, is_trial) = (
  select usage_days.plan_id, usage_days.is_trial from usage_days
  where usage_days.subscription_id = usage_hours.subscription_id and usage_days.day = (hour at time zone 'UTC')::date
    and usage_days.metric = usage_hours.metric and usage_days.aggregation = usage_hours.aggregation
);
alter table usage_records disable trigger user;
update usage_records set plan_id = plan_at_start_of(subscription_id, day),
  is_trial = coalesce(day::timestamp at time zone 'UTC' < (select trial_ends_at from subscriptions where id = subscription_id), false);
alter table usage_records enable trigger user;
drop function plan_at_start_of(uuid, date);

alter table usage_records alter column plan_id set not null;
alter table usage_hours drop constraint usage_hours_pkey,
  add primary key (subscription_id, hour, metric, aggregation, plan_id, is_trial);
alter table usage_days drop constraint usage_days_pkey,
  add primary key (subscription_id, day, metric, aggregation, plan_id, is_trial);
