-- Who set a secret or a configuration, read a decrypted one, redeemed a launch or asked for a reconciliation. Append-only, one
-- partition per day: a redemption per launch makes it as large as the launch log.

create table audit_entries (
  id uuid not null,
  at timestamptz(3) not null,
  actor_issuer text not null,
  actor_subject text not null,
  actor_role text not null,
  -- As the request named the organisation: it need not exist
  on_behalf_of text collate "C" not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  request_id text not null,
  -- Never a patient's id, a launch, a secret or a value of a configuration
  before json,
  after json,
  primary key (at, id)
) partition by range (at);
create index audit_entries_on_behalf_of on audit_entries (on_behalf_of, at, id);
create index audit_entries_of_actor on audit_entries (actor_subject, at, id);
create index audit_entries_of_action on audit_entries (action, at, id);
grant select, insert on audit_entries to ehr_service;

create function audit_entries_stay() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;
create trigger audit_entries_stay before update or delete or truncate on audit_entries
  for each statement execute function audit_entries_stay();

-- Creates the partitions of a week ahead. The service may call it, and create no table itself.
create function prepare_audit_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
begin
  -- A partition is named by eight digits: the bounds keep them from being those of another day.
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Processes that start together call this together.
  perform pg_advisory_xact_lock(hashtext('prepare_audit_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'audit_entries_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.audit_entries including all)', name);
      -- A statement trigger of the parent doesn't fire for a statement that names a partition.
      execute format(
        'create trigger audit_entries_stay before update or delete or truncate on public.%I
           for each statement execute function public.audit_entries_stay()',
        name
      );
      execute format(
        'alter table public.audit_entries attach partition public.%I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;
revoke execute on function prepare_audit_partitions(date) from public;
grant execute on function prepare_audit_partitions(date) to ehr_service;
select prepare_audit_partitions((now() at time zone 'UTC')::date);

-- For how long the log is kept at least, whatever the service is configured with. Only the owner changes it.
create table audit_log_retention (
  only_row boolean primary key default true check (only_row),
  least_days integer not null default 2192 check (least_days between 1 and 36500)
);
insert into audit_log_retention default values;
grant select on audit_log_retention to ehr_service;

-- Drops the oldest partition if it is older than kept_days and than the owner's floor, by the database's clock, and returns its name.
-- Writers wait for the drop: so it drops one day per transaction, and waits for 200 ms at most.
create function drop_oldest_audit_entries(today date, kept_days integer) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '200ms' as $$
declare
  floor_days integer;
  oldest text;
begin
  -- Another process is dropping.
  if not pg_try_advisory_xact_lock(hashtext('drop_oldest_audit_entries')) then return null; end if;
  select least_days into strict floor_days from public.audit_log_retention;
  select relname into oldest from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'public.audit_entries'::regclass and relname ~ '^audit_entries_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD')
        < least(today, (now() at time zone 'UTC')::date) - greatest(kept_days, floor_days)
    order by relname limit 1;
  if oldest is not null then execute format('drop table public.%I', oldest); end if;
  return oldest;
end
$$;
revoke execute on function drop_oldest_audit_entries(date, integer) from public;
grant execute on function drop_oldest_audit_entries(date, integer) to ehr_service;
