-- A day costs the most that was agreed in the last seven, whenever in the day it was. So periods are known to the moment, and why a
-- subscription was paused. Only triggers write them, so that nobody rewrites the past.

-- First of all: whoever changes a subscription or reports its usage locks its row first.
lock table subscriptions in access exclusive mode;

-- Null for pauses that ended before.
alter table ended_pauses add column reason text;
create or replace function subscriptions_record_ended_pause() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into ended_pauses (subscription_id, paused_at, ended_at, reason) values (new.id, old.paused_at, new.updated_at, old.pause_reason);
  return null;
end
$$;

-- Times in which a subscription was active with the same terms. The one that lasts began at `subscriptions.active_since`.
create table active_periods (
  subscription_id uuid not null references subscriptions,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null check (to_at > from_at),
  pricing_plan_id uuid not null references pricing_plans,
  quantity integer check (quantity >= 1),
  -- What the terms cost in the plan's interval, to find the dearest of a day. Null if a process of an earlier version has subscribed.
  interval_amount numeric,
  -- That of the plan: amounts are compared with those of the same one
  interval text,
  primary key (subscription_id, to_at)
);
grant select on active_periods to marketplace_service;

alter table subscriptions
  -- Null if it isn't active.
  add column active_since timestamptz(3),
  add column interval_amount numeric check (interval_amount >= 0);
grant update (interval_amount) on subscriptions to marketplace_service;

create function subscriptions_begin_period() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    new.active_since := case when new.status = 'active' then new.created_at end;
    return new;
  end if;
  new.active_since := case
    when new.status <> 'active' then null
    when (old.status, old.pricing_plan_id, old.quantity) is distinct from (new.status, new.pricing_plan_id, new.quantity) then new.updated_at
    else old.active_since
  end;
  return new;
end
$$;

create function subscriptions_record_active_period() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into active_periods (subscription_id, from_at, to_at, pricing_plan_id, quantity, interval_amount, interval)
  select old.id, old.active_since, new.updated_at, old.pricing_plan_id, old.quantity, old.interval_amount, pricing_plans.interval
  from pricing_plans where id = old.pricing_plan_id;
  return null;
end
$$;
revoke execute on function subscriptions_record_active_period() from public;

-- What was before: terms without the pauses in them. The last one is that which lasts.
create temporary table known_periods on commit drop as
select terms.id as subscription_id, lower(period) as from_at, nullif(upper(period), 'infinity') as to_at, terms.pricing_plan_id, terms.quantity
from (
  select subscriptions.id, ended.pricing_plan_id, ended.quantity,
    coalesce(lag(ended.ended_at) over agreed, created_at) as from_at,
    coalesce(ended.ended_at, cancelled_at, 'infinity') as to_at
  from subscriptions cross join lateral (
    select ended_at, pricing_plan_id, quantity from ended_terms where subscription_id = subscriptions.id
    union all select null, subscriptions.pricing_plan_id, subscriptions.quantity
  ) ended
  window agreed as (partition by subscriptions.id order by ended.ended_at nulls last)
) terms
cross join lateral unnest(
  tstzmultirange(tstzrange(terms.from_at, greatest(terms.to_at, terms.from_at)))
  - coalesce((
    select range_agg(tstzrange(paused_at, ended_at)) from (
      select paused_at, ended_at from ended_pauses where subscription_id = terms.id
      union all select paused_at, 'infinity' from subscriptions where id = terms.id and paused_at is not null
    ) paused
  ), '{}')
) as period;
insert into active_periods (subscription_id, from_at, to_at, pricing_plan_id, quantity)
select subscription_id, from_at, to_at, pricing_plan_id, quantity from known_periods where to_at is not null;
alter table subscriptions disable trigger user;
update subscriptions set active_since = from_at from known_periods
where subscription_id = id and to_at is null and status = 'active';
alter table subscriptions enable trigger user;

create trigger subscriptions_begin_period before insert or update on subscriptions
  for each row execute function subscriptions_begin_period();
create trigger subscriptions_record_active_period after update on subscriptions
  for each row when (
    old.active_since < new.updated_at
    and (old.status, old.pricing_plan_id, old.quantity) is distinct from (new.status, new.pricing_plan_id, new.quantity)
  ) execute function subscriptions_record_active_period();

-- Increases that were taken back within the hour, and count as never made.
create table undone_increases (
  subscription_id uuid not null references subscriptions,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null check (to_at > from_at and to_at <= from_at + interval '1 hour'),
  primary key (subscription_id, to_at)
);
grant select, insert on undone_increases to marketplace_service;

create function undone_increases_reject_second() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select from undone_increases undone join subscriptions on subscriptions.id = undone.subscription_id
    where (organisation_id, app_id) = (select organisation_id, app_id from subscriptions where id = new.subscription_id)
      and undone.to_at > new.to_at - interval '7 days'
  ) then
    raise exception 'an increase counts as never made once in seven days' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger undone_increases_reject_second before insert on undone_increases
  for each row execute function undone_increases_reject_second();

-- An organisation's subscriptions to an app are charged as one.
create index subscriptions_of_account on subscriptions (organisation_id, app_id, created_at);
