-- The worker processes that fetch deliveries. A worker is alive while its session has the advisory lock of its id; one that is frozen or
-- disconnected keeps the lock, so it must also renew its heartbeat. Another worker takes over what a dead one has fetched.
create table delivery_workers (
  id integer primary key generated always as identity,
  host text not null check (length(host) between 1 and 255),
  started_at timestamptz(3) not null default now(),
  heartbeat_at timestamptz not null default now()
);
grant select, insert (host), delete on delivery_workers to marketplace_service;
grant update (heartbeat_at) on delivery_workers to marketplace_service;

-- The worker that has fetched the delivery's job. It isn't indexed: a dead worker's deliveries are found by their active jobs.
alter table deliveries add column worker_id integer;
grant update (worker_id) on deliveries to marketplace_service;
