-- Who opened which app, for which patient. What is written here stays.

create table launches (
  id uuid not null,
  org_alias text collate "C" not null,
  app_slug text collate "C" not null,
  launch_type text not null check (launch_type in ('native', 'smart', 'standalone')),
  user_issuer text not null,
  user_subject text not null,
  patient_id uuid,
  encounter_id uuid,
  launched_at timestamptz(3) not null,
  primary key (launched_at, id)
) partition by range (launched_at);
create index launches_of_app on launches (org_alias, app_slug, launched_at desc, id desc);
grant select, insert on launches to ehr_service;

create function launches_stay() returns trigger language plpgsql as $$
begin
  raise exception 'the launch log is append-only' using errcode = 'restrict_violation';
end
$$;
create trigger launches_stay before update or delete or truncate on launches
  for each statement execute function launches_stay();

-- A partition per day, made a week ahead. The service may call it, and make no other table. Launches go on meanwhile:
-- attaching lets them pass, whoever reads the log.
create function prepare_launch_partitions(today date) returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
begin
  -- Processes that start together come here together.
  perform pg_advisory_xact_lock(hashtext('prepare_launch_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'launches_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like launches including all)', name);
      -- Triggers on whole statements of the log don't hold for whoever names a partition.
      execute format(
        'create trigger launches_stay before update or delete or truncate on %I
           for each statement execute function launches_stay()',
        name
      );
      execute format(
        'alter table launches attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;
revoke execute on function prepare_launch_partitions(date) from public;
grant execute on function prepare_launch_partitions(date) to ehr_service;
select prepare_launch_partitions((now() at time zone 'UTC')::date);

-- For how long the log is kept at the least, whatever the service is told. Only the owner changes it.
create table launch_log_retention (
  only_row boolean primary key default true check (only_row),
  least_days integer not null default 365 check (least_days between 1 and 36500)
);
insert into launch_log_retention default values;
grant select on launch_log_retention to ehr_service;

-- Drops the oldest day, if it is older than the log is kept for, and answers its partition's name. Whose clock is ahead
-- drops nothing that is not old by the database's own. Launches wait for whatever this waits for: hence one day in a
-- transaction, and hardly any waiting.
create function drop_oldest_launches(today date, kept_days integer) returns text
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  floor_days integer;
  oldest text;
begin
  -- Somebody else is at it.
  if not pg_try_advisory_xact_lock(hashtext('drop_oldest_launches')) then return null; end if;
  select least_days into strict floor_days from launch_log_retention;
  select relname into oldest from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'launches'::regclass and relname ~ '^launches_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD')
        < least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, floor_days)
    order by relname limit 1;
  if oldest is not null then execute format('drop table %I', oldest); end if;
  return oldest;
end
$$;
revoke execute on function drop_oldest_launches(date, integer) from public;
grant execute on function drop_oldest_launches(date, integer) to ehr_service;

-- What an authorization server may ask for once: the context behind the `launch` of a SMART launch. Only its hash is kept.
create table launch_contexts (
  launch_hash bytea primary key check (length(launch_hash) = 32),
  launch_id uuid not null,
  org_alias text collate "C" not null,
  app_slug text collate "C" not null,
  user_subject text not null,
  patient_id uuid,
  encounter_id uuid,
  expires_at timestamptz(3) not null
);
create index launch_contexts_expired on launch_contexts (expires_at);
grant select, insert, delete on launch_contexts to ehr_service;
