-- Sending again what an endpoint was told before, and what operators ask of delivery as a whole.

create table replays (
  id uuid primary key,
  recipient_id uuid not null references recipients,
  kind text not null check (kind in ('range', 'failures')),
  from_at timestamptz(3),
  -- Never later than its creation: what becomes due afterwards is none of its business, or it would never end
  to_at timestamptz(3) not null,
  status text not null default 'running' check (status in ('running', 'done', 'cancelled')),
  total integer not null check (total >= 0),
  done integer not null default 0 check (done >= 0),
  -- The last one that it has sent again: whoever takes over goes on behind it
  cursor_at timestamptz(3),
  cursor_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint a_range_begins check (kind = 'failures' or from_at is not null),
  constraint a_cursor_is_a_place check ((cursor_at is null) = (cursor_id is null))
);
create unique index replays_one_running on replays (recipient_id) where status = 'running';
grant select, insert on replays to marketplace_service;
grant update (status, done, cursor_at, cursor_id, updated_at) on replays to marketplace_service;

-- A few failures among millions that were delivered are found without reading those.
create index deliveries_to_replay on deliveries (recipient_id, created_at, id) where status in ('failed', 'expired');

-- Health: what is due to anyone and how old it is, and what failed lately, whoever it was for.
create index deliveries_undelivered on deliveries (status, created_at) where status in ('waiting', 'queued');
create index deliveries_failed_lately on deliveries (settled_at) where status in ('failed', 'expired');
