-- Suspensions of apps that pause the app's subscriptions. A background job pauses them in batches, and resumes them after reinstating.

create table suspensions (
  id uuid primary key,
  app_id uuid not null references listings,
  state text not null default 'pausing' check (state in ('pausing', 'paused', 'resuming', 'ended')),
  reason text not null check (length(reason) between 1 and 2000),
  started_at timestamptz(3) not null,
  -- The operator whose command the job carries out: who suspended the app or, while resuming, who reinstated it
  actor_issuer text not null,
  actor_subject text not null,
  request_id text not null,
  -- When the first batch was paused. Requests that were in progress then may still have created or resumed subscriptions
  counted_at timestamptz(3),
  -- The last pass starts when none of those requests is in progress any more
  is_last_pass boolean not null default false,
  -- The last subscription of the last batch
  cursor_at timestamptz(3),
  cursor_id uuid,
  found integer not null default 0 check (found >= 0),
  paused integer not null default 0 check (paused >= 0),
  resumed integer not null default 0 check (resumed >= 0),
  updated_at timestamptz(3) not null
);
create unique index suspensions_one_per_app on suspensions (app_id) where state <> 'ended';
grant select, insert (id, app_id, reason, started_at, actor_issuer, actor_subject, request_id, updated_at) on suspensions
  to marketplace_service;
grant update (
  state, reason, started_at, actor_issuer, actor_subject, request_id, counted_at, is_last_pass, cursor_at, cursor_id, found, paused,
  resumed, updated_at
) on suspensions to marketplace_service;

-- The suspension that has paused the subscription, and will resume it.
alter table subscriptions
  add column suspension_id uuid references suspensions,
  add constraint subscriptions_suspension_requires_pause check (
    suspension_id is null or (status = 'paused' and pause_reason = 'SECURITY')
  );
create index subscriptions_of_suspension on subscriptions (suspension_id, id) where suspension_id is not null;
grant update (suspension_id) on subscriptions to marketplace_service;
