-- What the service's role can make the owner's functions do, and how long the launch log is kept at least.

-- Creates the partitions of a week ahead. A partition is named by eight digits: the bounds keep them from being those of another day.
create or replace function prepare_launch_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
begin
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Processes that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_launch_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'launches_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.launches including all)', name);
      -- A statement trigger of the parent doesn't fire for a statement that names a partition.
      execute format(
        'create trigger launches_stay before update or delete or truncate on public.%I
           for each statement execute function public.launches_stay()',
        name
      );
      execute format(
        'alter table public.launches attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;

-- Drops the oldest partition if it is older than kept_days and than the owner's floor, by the database's clock, and returns its name.
-- Launches wait for the drop: so it drops one day per transaction, and waits for 200 ms at most.
create or replace function drop_oldest_launches(today date, kept_days integer) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
declare
  floor_days integer;
  oldest text;
begin
  -- Another process is dropping.
  if not pg_try_advisory_xact_lock(hashtext('drop_oldest_launches')) then return null; end if;
  select least_days into strict floor_days from public.launch_log_retention;
  select relname into oldest from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'public.launches'::regclass and relname ~ '^launches_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD')
        < least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, floor_days)
    order by relname limit 1;
  if oldest is not null then execute format('drop table public.%I', oldest); end if;
  return oldest;
end
$$;

-- The floor is the default retention, six years, unless the owner has set another.
alter table launch_log_retention alter column least_days set default 2192;
update launch_log_retention set least_days = 2192 where least_days = 365;
