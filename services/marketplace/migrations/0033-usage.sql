-- Usage: what vendors report of metered apps, and the aggregates of each hour, from which everything else is read.

-- Pauses that are over. One that lasts is in `subscriptions.paused_at`.
create table ended_pauses (
  subscription_id uuid not null references subscriptions,
  paused_at timestamptz(3) not null,
  ended_at timestamptz(3) not null check (ended_at >= paused_at),
  primary key (subscription_id, paused_at)
);
grant select, insert on ended_pauses to marketplace_service;

create function subscriptions_record_ended_pause() returns trigger
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into ended_pauses (subscription_id, paused_at, ended_at) values (new.id, old.paused_at, new.updated_at);
  return null;
end
$$;
create trigger subscriptions_record_ended_pause after update of status on subscriptions
  for each row when (old.status = 'paused' and new.status <> 'paused')
  execute function subscriptions_record_ended_pause();

-- Events are never deleted, so they tell the earlier pauses.
insert into ended_pauses (subscription_id, paused_at, ended_at)
select subscription_id, occurred_at, next_at from (
  select subscription_id, event, occurred_at, lead(occurred_at) over (partition by subscription_id order by sequence) as next_at
  from events
  where event in ('subscription.paused', 'subscription.resumed', 'subscription.cancelled') and sequence is not null
) changes
where event = 'subscription.paused' and next_at is not null;

-- How often usage of a subscription is reported. The lock on the subscription's row protects it.
create table usage_reporters (
  subscription_id uuid primary key references subscriptions,
  -- The time of the last event `usage.reported`
  reported_at timestamptz(3),
  -- The second of the last batch, and how many batches there were in it
  second timestamptz(0) not null,
  batches integer not null check (batches between 1 and 20)
);
grant select, insert on usage_reporters to marketplace_service;
grant update (reported_at, second, batches) on usage_reporters to marketplace_service;

-- What was reported. No foreign key, because each row would check it: the hours of the same transaction have one.
create table usage_records (
  subscription_id uuid not null,
  -- The vendor's identifier: unique within the subscription and the day
  record_id text collate "C" not null check (record_id ~ '^[A-Za-z0-9._:-]{1,100}$'),
  -- Of the occurrence, in UTC
  day date not null,
  occurred_at timestamptz(3) not null,
  metric text collate "C" not null check (length(metric) between 1 and 100),
  quantity numeric(21, 6) not null check (quantity >= 0),
  -- That of the plan in force on the day
  aggregation text not null check (aggregation in ('SUM', 'COUNT', 'MAX', 'LATEST')),
  voided boolean not null default false,
  reported_at timestamptz(3) not null,
  primary key (subscription_id, record_id, day),
  check (day = (occurred_at at time zone 'UTC')::date)
) partition by range (day);
-- What remains of an hour when its highest or its latest record is voided
create index usage_records_highest on usage_records
  (subscription_id, metric, date_trunc('hour', occurred_at at time zone 'UTC'), quantity)
  where aggregation = 'MAX' and not voided;
create index usage_records_latest on usage_records (subscription_id, metric, occurred_at, record_id)
  where aggregation = 'LATEST' and not voided;
grant select, insert on usage_records to marketplace_service;
grant update (voided) on usage_records to marketplace_service;

-- The aggregates of each hour that has records.
create table usage_hours (
  subscription_id uuid not null references subscriptions,
  hour timestamptz(0) not null check (date_trunc('hour', hour at time zone 'UTC') = hour at time zone 'UTC'),
  metric text collate "C" not null,
  aggregation text not null check (aggregation in ('SUM', 'COUNT', 'MAX', 'LATEST')),
  -- By the aggregation: the sum, the number of records, the highest quantity or the latest one; 0 without records
  quantity numeric not null check (quantity >= 0),
  record_count bigint not null check (record_count >= 0),
  -- Which record is the latest
  latest_at timestamptz(3),
  latest_id text collate "C",
  primary key (subscription_id, hour, metric, aggregation),
  check (num_nonnulls(latest_at, latest_id) = case when aggregation = 'LATEST' and record_count > 0 then 2 else 0 end)
);
grant select, insert on usage_hours to marketplace_service;
grant update (quantity, record_count, latest_at, latest_id) on usage_hours to marketplace_service;

-- Records may be 35 days old, and a week is made ahead.
create function prepare_usage_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
declare
  day date;
  name text;
begin
  if (today between '2000-02-15' and '2999-12-01') is not true then
    raise exception '% is not a day of usage', today;
  end if;
  -- Workers that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_usage_partitions'));
  for day in select generate_series(today - 36, today + 7, interval '1 day')::date loop
    name := 'usage_records_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.usage_records including all)', name);
      execute format('alter table public.usage_records attach partition public.%I for values from (%L) to (%L)', name, day, day + 1);
    end if;
  end loop;
end
$$;
revoke execute on function prepare_usage_partitions(date) from public;
grant execute on function prepare_usage_partitions(date) to marketplace_service;
select prepare_usage_partitions((now() at time zone 'UTC')::date);

-- Drops the records of one day that are older than 13 months, by the database's clock. Returns false if a reader holds a lock on them.
create function drop_usage_partition(day date) returns boolean
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
begin
  if (day >= '2000-01-01' and day < (now() at time zone 'UTC')::date - interval '13 months') is not true then
    raise exception 'the usage of % is not old enough', day;
  end if;
  execute format('drop table if exists public.%I', 'usage_records_' || to_char(day, 'YYYYMMDD'));
  return true;
exception when lock_not_available then
  return false;
end
$$;
revoke execute on function drop_usage_partition(date) from public;
grant execute on function drop_usage_partition(date) to marketplace_service;
