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

-- A partition per day, made a week ahead and dropped when it is old. The service may call it, and make no other table.
-- Whose clock is ahead drops nothing that is not old by the database's own. Launches go on meanwhile: attaching lets them
-- pass, and what dropping waits for, they wait for no longer than a second.
create function prepare_launch_partitions(today date, kept_days integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
  oldest_kept date := least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, 1);
  dropped integer := 0;
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
  for name in
    select relname from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'launches'::regclass
      and relname ~ '^launches_\d{8}$' and to_date(right(relname, 8), 'YYYYMMDD') < oldest_kept
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
revoke execute on function prepare_launch_partitions(date, integer) from public;
grant execute on function prepare_launch_partitions(date, integer) to ehr_service;
select prepare_launch_partitions((now() at time zone 'UTC')::date, 2192);

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
