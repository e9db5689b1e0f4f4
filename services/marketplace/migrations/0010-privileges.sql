-- What the service's role can make the owner's functions do, and what it may still change afterwards.

-- PostgreSQL searches temporary tables first where search_path doesn't name pg_temp: a caller's table could then pass for
-- `recipients`, and its default expressions ran with the owner's rights. The service may write that table itself.
alter function organisations_receive() security invoker set search_path = pg_catalog, public, pg_temp;
alter function endpoints_receive() security invoker set search_path = pg_catalog, public, pg_temp;

-- How long the delivery log is kept at least, whatever the service is configured with. Only the owner changes it.
create table delivery_log_retention (
  only_row boolean primary key default true check (only_row),
  least_days integer not null default 30 check (least_days between 1 and 3650)
);
insert into delivery_log_retention default values;
grant select on delivery_log_retention to marketplace_service;

-- Creates the partitions of a week ahead. A partition is named by eight digits: the bounds keep them from being those of another day.
create or replace function prepare_attempt_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
declare
  day date;
  name text;
begin
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Workers that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_attempt_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'delivery_attempts_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.delivery_attempts including all)', name);
      execute format(
        'alter table public.delivery_attempts attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;

-- Drops the partition of one day that is older than kept_days and than the owner's floor, by the database's clock. Returns false
-- if a reader holds a lock on it: other readers and writers wait for the drop, so it waits for 200 ms at most. Days before 2000 are
-- refused because the name of a partition doesn't tell 2026 BC from 2026.
create or replace function drop_attempt_partition(day date, kept_days integer) returns boolean
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
declare
  floor_days integer;
begin
  select least_days into strict floor_days from public.delivery_log_retention;
  if (day >= '2000-01-01' and day < (now() at time zone 'UTC')::date - greatest(kept_days, floor_days)) is not true then
    raise exception 'the log of % is not old enough', day;
  end if;
  execute format('drop table if exists public.%I', 'delivery_attempts_' || to_char(day, 'YYYYMMDD'));
  return true;
exception when lock_not_available then
  return false;
end
$$;

-- The service records the result of a request, and can't change what was requested.
revoke update on delivery_attempts from marketplace_service;
grant update (duration_ms, outcome, status_code, error, response_snippet, next_attempt_at) on delivery_attempts
  to marketplace_service;

-- A body may hold a secret: an unkeyed digest of it could be guessed by trying. The digest is now `version.HMAC`. Answers that are
-- kept at this moment are lost, because nobody can compute their bodies' digests again.
delete from idempotent_answers;
alter table idempotent_answers
  drop column body,
  add column body_digest text not null check (body_digest ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]{43}$');
