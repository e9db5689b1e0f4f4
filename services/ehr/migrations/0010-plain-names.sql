-- Standard names for columns, constraints and functions. Processes of earlier versions use the old column names: stop them before this
-- migration runs. Grants on columns, checks and triggers follow the renames; the bodies of functions don't, and are replaced.

alter table organisations rename column sealed_secret to encrypted_secret;
alter table organisations rename column sealed_previous_secret to encrypted_previous_secret;
alter table organisations rename constraint organisations_sealed_secret_check to organisations_encrypted_secret_check;
alter table organisations rename constraint organisations_sealed_previous_secret_check
  to organisations_encrypted_previous_secret_check;
alter table organisations rename constraint an_overlap_has_an_end to organisations_previous_until_check;

alter table installations rename column sealed_config to encrypted_config;
alter table installations rename constraint installations_sealed_config_check to installations_encrypted_config_check;
alter table installations rename constraint installations_check to installations_config_secrets_check;
alter table installations rename constraint removed_at_a_time to installations_removed_at_check;

alter table apps rename constraint what_was_read_is_known to apps_schema_known_check;
alter table apps rename constraint facts_are_complete to apps_complete_facts_check;

-- The triggers keep their names: renaming them would lock every partition of both logs in one transaction.
alter function launches_stay() rename to launches_reject_changes;
alter function audit_entries_stay() rename to audit_entries_reject_changes;

-- Creates the partitions of a week ahead. The service may call it, and can't create tables itself.
create or replace function prepare_launch_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
begin
  -- The name of a partition ends with the eight digits of its day; outside these bounds two days could have the same digits.
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  -- Processes that start at the same time call this at the same time.
  perform pg_advisory_xact_lock(hashtext('prepare_launch_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'launches_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.launches including all)', name);
      -- A statement trigger of the parent doesn't fire for a statement that names a partition.
      execute format(
        'create trigger launches_stay before update or delete or truncate on public.%I
           for each statement execute function public.launches_reject_changes()',
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

-- The same for the audit log.
create or replace function prepare_audit_partitions(today date) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '1s' as $$
declare
  day date;
  name text;
begin
  if (today between '2000-01-02' and '2999-12-01') is not true then
    raise exception '% is not a day of this log', today;
  end if;
  perform pg_advisory_xact_lock(hashtext('prepare_audit_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'audit_entries_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table public.%I (like public.audit_entries including all)', name);
      execute format(
        'create trigger audit_entries_stay before update or delete or truncate on public.%I
           for each statement execute function public.audit_entries_reject_changes()',
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
