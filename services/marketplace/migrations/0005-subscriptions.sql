-- An organisation's right to use an app, what happened to it, and the answers that are given once.

alter table pricing_plans add unique (id, app_id);

create table subscriptions (
  id uuid primary key,
  organisation_id uuid not null references organisations,
  app_id uuid not null references apps,
  pricing_plan_id uuid not null,
  quantity integer check (quantity >= 1),
  status text not null check (status in ('active', 'paused', 'cancelled')),
  pause_reason text check (pause_reason in ('NON_PAYMENT', 'OPERATOR_HOLD', 'SECURITY', 'ORG_REQUEST')),
  -- Left by cancelling out of a pause that the organisation had no say in
  block_reason text check (block_reason in ('NON_PAYMENT', 'OPERATOR_HOLD', 'SECURITY')),
  trial_ends_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- Strictly increasing with every event: an event's timestamp is the subscription's at that moment
  updated_at timestamptz(3) not null,
  paused_at timestamptz(3),
  cancelled_at timestamptz(3),
  -- How many events it has had
  revision integer not null check (revision >= 1),
  constraint plan_is_of_the_app foreign key (pricing_plan_id, app_id) references pricing_plans (id, app_id),
  constraint paused_with_a_reason check (
    (status = 'paused') = (pause_reason is not null) and (status = 'paused') = (paused_at is not null)
  ),
  constraint cancelled_at_a_time check ((status = 'cancelled') = (cancelled_at is not null)),
  constraint only_cancelled_ones_block check (block_reason is null or status = 'cancelled'),
  constraint times_in_order check (updated_at >= created_at and trial_ends_at > created_at)
);

-- One live subscription per organisation and app. One that blocks holds the same place: were the block a row elsewhere,
-- a subscriber that waits here for a cancellation to commit would slip through behind it.
create unique index subscriptions_one_live_or_blocking on subscriptions (organisation_id, app_id)
  where status <> 'cancelled' or block_reason is not null;
create unique index subscriptions_one_trial on subscriptions (organisation_id, app_id) where trial_ends_at is not null;
create index subscriptions_newest_first on subscriptions (organisation_id, created_at desc, id desc);

create function subscriptions_refuse_impossible_changes() returns trigger language plpgsql as $$
begin
  if old.status = 'cancelled' and (
    new.status <> 'cancelled' or new.cancelled_at <> old.cancelled_at or new.revision <> old.revision
    or (new.block_reason is not null and new.block_reason is distinct from old.block_reason)
  ) then
    raise exception 'a cancelled subscription stays cancelled' using errcode = 'restrict_violation';
  end if;
  if old.status = 'paused' and new.status = 'paused' and new.pause_reason <> old.pause_reason then
    raise exception 'a paused subscription keeps its reason' using errcode = 'restrict_violation';
  end if;
  if new.revision <> old.revision + (new.status <> old.status)::integer then
    raise exception 'a change of status has one event, and anything else has none' using errcode = 'restrict_violation';
  end if;
  if new.updated_at <= old.updated_at then
    raise exception 'times go on: % is not after %', new.updated_at, old.updated_at using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger subscriptions_refuse_impossible_changes before update on subscriptions
  for each row execute function subscriptions_refuse_impossible_changes();

-- What was taken stays: organisation, app, plan, quantity, trial and the time of it can't be updated.
grant select, insert on subscriptions to marketplace_service;
grant update (status, pause_reason, block_reason, updated_at, paused_at, cancelled_at, revision) on subscriptions
  to marketplace_service;
grant select (id, slug, vendor_id, status, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes)
  on apps to marketplace_service;
grant select (id, slug) on vendors to marketplace_service;
grant select (id, app_id, pricing_model, trial_days, published_at, retired_at) on pricing_plans to marketplace_service;

-- The outbox: what happened, as the bytes that every recipient gets, in the transaction that made it happen.
create table events (
  id uuid primary key,
  event text not null,
  subscription_id uuid references subscriptions,
  sequence integer check (sequence >= 1),
  occurred_at timestamptz(3) not null,
  payload text not null check (length(payload) <= 65536),
  constraint a_sequence_is_a_subscription_s check (sequence is null or subscription_id is not null),
  unique (subscription_id, sequence)
);

-- History: it can be read and added to.
grant select, insert on events to marketplace_service;

create table idempotent_answers (
  -- Digest of who asked, by which method, for which path and with which key
  request bytea primary key check (length(request) = 32),
  body bytea not null check (length(body) = 32),
  -- Null only inside the transaction that makes it
  answer json,
  answered_at timestamptz(3) not null
);
create index idempotent_answers_by_age on idempotent_answers (answered_at);
grant select, insert, update, delete on idempotent_answers to marketplace_service;
