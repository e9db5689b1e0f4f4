-- Usage belongs to the plan that was in force when it occurred, and that of a trial is free: hours and days are kept by plan.
alter table usage_records add column plan_id uuid, add column is_trial boolean not null default false;
alter table usage_hours add column plan_id uuid, add column is_trial boolean not null default false;
alter table usage_days add column plan_id uuid, add column is_trial boolean not null default false;

-- Until now it belonged to the plan at the start of its day.
update usage_days set
  plan_id = coalesce(
    (
      select pricing_plan_id from ended_terms
      where ended_terms.subscription_id = usage_days.subscription_id and ended_at > day::timestamp at time zone 'UTC' order by ended_at limit 1
    ),
    subscriptions.pricing_plan_id
  ),
  is_trial = coalesce(day::timestamp at time zone 'UTC' < subscriptions.trial_ends_at, false)
from subscriptions where subscriptions.id = usage_days.subscription_id;
update usage_hours set plan_id = usage_days.plan_id, is_trial = usage_days.is_trial
from usage_days
where usage_days.subscription_id = usage_hours.subscription_id and usage_days.day = (hour at time zone 'UTC')::date
  and usage_days.metric = usage_hours.metric and usage_days.aggregation = usage_hours.aggregation;
-- Older records can't be taken back any more.
alter table usage_records disable trigger user;
update usage_records set plan_id = usage_days.plan_id, is_trial = usage_days.is_trial
from usage_days
where usage_records.day > (now() at time zone 'UTC')::date - 37
  and usage_days.subscription_id = usage_records.subscription_id and usage_days.day = usage_records.day
  and usage_days.metric = usage_records.metric and usage_days.aggregation = usage_records.aggregation;
alter table usage_records enable trigger user;

alter table usage_hours drop constraint usage_hours_pkey,
  add primary key (subscription_id, hour, metric, aggregation, plan_id, is_trial);
alter table usage_days drop constraint usage_days_pkey,
  add primary key (subscription_id, day, metric, aggregation, plan_id, is_trial);
