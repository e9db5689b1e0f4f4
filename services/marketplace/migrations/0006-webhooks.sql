-- Where events go, what is due to whom, and what became of every attempt.

-- Version 7, so that new rows lie together; PostgreSQL has its own only from 18 on.
create function mint_uuid() returns uuid language sql volatile parallel safe return
  encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid;

-- Where a vendor wants to hear.
create table webhook_endpoints (
  id uuid primary key,
  vendor_id uuid not null references vendors,
  url text not null check (url ~ '^https?://' and length(url) <= 2048),
  events text[] not null check (cardinality(events) between 1 and 20),
  sealed_secret text not null check (sealed_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  -- Rotation: signs beside the other until it is promoted, by its vendor or by the time
  sealed_next_secret text check (sealed_next_secret ~ '^[1-9][0-9]*[.][A-Za-z0-9_-]+$'),
  promote_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- What it was told stays in the log
  deleted_at timestamptz(3),
  constraint rotation_has_an_end check ((sealed_next_secret is null) = (promote_at is null))
);
create index webhook_endpoints_of_vendor on webhook_endpoints (vendor_id, created_at, id) where deleted_at is null;
grant select, insert on webhook_endpoints to marketplace_service;
grant update (url, events, sealed_secret, sealed_next_secret, promote_at, updated_at, deleted_at) on webhook_endpoints
  to marketplace_service;

-- A recipient is an endpoint or an organisation's EHR, under the same id, with how it is getting on.
create table recipients (
  id uuid primary key,
  kind text not null check (kind in ('endpoint', 'ehr')),
  -- held: only a probe goes out now and then. disabled: nothing does, until its vendor enables it
  status text not null default 'active' check (status in ('active', 'held', 'disabled')),
  -- So much has a job that whatever comes waits as a row, though it is neither failing nor held: it is slow
  crowded boolean not null default false,
  failures_in_row integer not null default 0 check (failures_in_row >= 0),
  held_since timestamptz(3),
  -- Probes that failed since it is held, and the delivery that was the last of them
  probes integer not null default 0,
  probed_id uuid,
  disabled_at timestamptz(3),
  disabled_because text,
  constraint held_since_a_time check (status = 'active' or held_since is not null),
  constraint disabled_with_a_reason check (
    (status = 'disabled') = (disabled_at is not null) and (status = 'disabled') = (disabled_because is not null)
  ),
  constraint an_ehr_is_never_disabled check (kind = 'endpoint' or status <> 'disabled')
);
create index recipients_in_trouble on recipients (status, held_since) where status <> 'active';
grant select, insert on recipients to marketplace_service;
grant update (status, crowded, failures_in_row, held_since, probes, probed_id, disabled_at, disabled_because) on recipients
  to marketplace_service;

-- Where nothing listens yet, everything waits.
create function organisations_receive() returns trigger language plpgsql security definer set search_path = public as $$
begin
  if tg_op = 'INSERT' then
    insert into recipients (id, kind, status, held_since)
    values (
      new.id, 'ehr', case when new.callback_url is null then 'held' else 'active' end,
      case when new.callback_url is null then new.created_at end
    );
  elsif new.callback_url is null and old.callback_url is not null then
    update recipients set status = 'held', held_since = new.updated_at, probes = 0
    where id = new.id and status = 'active';
  end if;
  return null;
end
$$;
create trigger organisations_receive after insert or update of callback_url on organisations
  for each row execute function organisations_receive();
insert into recipients (id, kind, status, held_since)
select id, 'ehr', case when callback_url is null then 'held' else 'active' end,
  case when callback_url is null then created_at end
from organisations;

create function endpoints_receive() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into recipients (id, kind) values (new.id, 'endpoint');
  return null;
end
$$;
create trigger endpoints_receive after insert on webhook_endpoints
  for each row execute function endpoints_receive();

-- One event for one recipient. All attempts, redelivery and replay included, are attempts of this one.
create table deliveries (
  id uuid primary key,
  event_id uuid not null references events,
  recipient_id uuid not null references recipients,
  -- With the recipient, the lane that it must keep its place in; null: outside any sequence
  subscription_id uuid references subscriptions,
  sequence integer,
  -- waiting: behind another in its lane, or for a recipient that is held. queued: a job of the same id carries it
  status text not null check (status in ('waiting', 'queued', 'delivered', 'failed', 'expired', 'dropped')),
  attempts integer not null default 0 check (attempts >= 0),
  -- Those that count toward the last one; probes don't
  failures integer not null default 0 check (failures >= 0),
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  -- Sent again after it was settled: since then it is due anew
  begun_anew_at timestamptz(3),
  unique (event_id, recipient_id),
  constraint a_lane_has_places check ((subscription_id is null) = (sequence is null)),
  constraint settled_at_a_time check ((status in ('waiting', 'queued')) = (settled_at is null))
);
create index deliveries_in_lane on deliveries (subscription_id, recipient_id, sequence)
  where status in ('waiting', 'queued') and subscription_id is not null;
create index deliveries_due on deliveries (recipient_id, created_at, id) where status in ('waiting', 'queued');
create index deliveries_of_recipient on deliveries (recipient_id, created_at desc, id desc);
create index deliveries_failed on deliveries (recipient_id, settled_at) where status in ('failed', 'expired');

-- Workers sleep until something is queued.
create function deliveries_wake_workers() returns trigger language plpgsql as $$
begin
  perform pg_notify('deliveries_queued', '');
  return null;
end
$$;
create trigger deliveries_wake_workers_when_inserted after insert on deliveries
  for each row when (new.status = 'queued') execute function deliveries_wake_workers();
create trigger deliveries_wake_workers_when_queued after update of status on deliveries
  for each row when (new.status = 'queued' and old.status <> 'queued') execute function deliveries_wake_workers();

grant select, insert on deliveries to marketplace_service;
grant update (status, attempts, failures, next_attempt_at, settled_at, begun_anew_at) on deliveries to marketplace_service;

-- WebhookDeliveryLog: one row per attempt, opened before the request goes out. What dies in between stays `unknown`.
create table delivery_attempts (
  id uuid not null,
  delivery_id uuid not null,
  recipient_id uuid not null,
  url text not null,
  attempt integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer,
  outcome text not null default 'unknown' check (outcome in ('delivered', 'failed', 'unknown')),
  status_code integer,
  error text,
  response_snippet text,
  next_attempt_at timestamptz(3),
  primary key (started_at, id)
) partition by range (started_at);
create index delivery_attempts_of_delivery on delivery_attempts (delivery_id, started_at);
grant select, insert, update on delivery_attempts to marketplace_service;

-- A partition per day, made a week ahead. Attaching lets reads and writes of the log pass, and whoever dumps it too. The
-- service may call this, and make no other table.
create function prepare_attempt_partitions(today date) returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  day date;
  name text;
begin
  -- Workers that start together come here together.
  perform pg_advisory_xact_lock(hashtext('prepare_attempt_partitions'));
  for day in select generate_series(today - 1, today + 7, interval '1 day')::date loop
    name := 'delivery_attempts_' || to_char(day, 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I (like delivery_attempts including all)', name);
      execute format(
        'alter table delivery_attempts attach partition %I for values from (%L) to (%L)',
        name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end if;
  end loop;
end
$$;
revoke execute on function prepare_attempt_partitions(date) from public;
grant execute on function prepare_attempt_partitions(date) to marketplace_service;
select prepare_attempt_partitions((now() at time zone 'UTC')::date);

-- One day that is older than it is kept for. Dropping keeps all others from the log while it waits for them, so it doesn't
-- wait for long. False: somebody reads it; another time. Whose clock is ahead drops nothing that is not old by the
-- database's own.
create function drop_attempt_partition(day date, kept_days integer) returns boolean
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
begin
  if day >= (now() at time zone 'UTC')::date - greatest(kept_days, 1) then
    raise exception 'the log of % is not old yet', day;
  end if;
  execute format('drop table if exists %I', 'delivery_attempts_' || to_char(day, 'YYYYMMDD'));
  return true;
exception when lock_not_available then
  return false;
end
$$;
revoke execute on function drop_attempt_partition(date, integer) from public;
grant execute on function drop_attempt_partition(date, integer) to marketplace_service;
